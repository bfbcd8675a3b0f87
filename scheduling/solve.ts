import { Pass } from './pass.ts';
import type { Solve } from './solver.ts';
import { worldOf } from './world.ts';

/**
 * Which nodes do these Pods need.
 *
 * @throws InvalidQuantity when an object that the API server has taken holds a text that is no quantity
 */
export const solve: Solve = (problem) => new Pass(worldOf(problem)).run();
