/**
 * Objects for every engine that judges the rules: all samples, and generated ones that go where samples do not. Each
 * engine has to say the same of each, so nothing here says what the verdict should be.
 */
import fc from 'fast-check';

import type { KubeObject } from '../kubernetes/meta.ts';
import { nodeClassKind } from '../names.ts';
import { anyClaim, anyPool } from './corpus/machines.ts';
import { anyNodeClass } from './corpus/node-classes.ts';
import { oddly } from './corpus/oddities.ts';
import { anyPod } from './corpus/pods.ts';
import type { Operation } from './rule.ts';
import { resourcesOf, type Rule } from './rule.ts';
import { rules } from './table.ts';

/** One review: an object that is made, or that takes the place of another. */
export interface Case {
  /** For people: which rule's sample it is, or the number of its generation. */
  readonly name: string;
  readonly operation: Operation;
  readonly object: KubeObject;
  readonly oldObject?: KubeObject;
  readonly subResource?: string;
  /**
   * Of a shape that the kind's schema refuses: it never gets as far as a policy on an API server, and is for the engines
   * that take anything.
   */
  readonly odd: boolean;
}

/** Fixed, so that a case that was wrong once is met again. */
const seed = 20_261_130;

export interface CorpusOptions {
  /** Of each kind and operation. */
  readonly size?: number;
  readonly seed?: number;
}

/** @returns the same cases in the same order each time */
export function corpus({ size = 100, seed: given = seed }: CorpusOptions = {}): Case[] {
  return [...rules.flatMap(samplesOf), ...generated({ numRuns: size, seed: given })];
}

function samplesOf(rule: Rule): Case[] {
  const { name, before, operations, accepts, rejects } = rule;
  const [operation = 'CREATE'] = operations;
  const [, subResource] = resourcesOf(rule)[0]?.split('/') ?? [];
  const shared = { odd: false, ...(subResource !== undefined && { subResource }) };
  const review = before ? { operation, oldObject: before } : { operation };
  return [
    ...accepts.map((object, index) => ({
      ...shared,
      ...review,
      name: `${name} accepts ${index}`,
      object,
    })),
    ...rejects.map((object, index) => ({
      ...shared,
      ...review,
      name: `${name} rejects ${index}`,
      object,
    })),
  ];
}

const kinds: Readonly<Record<string, fc.Arbitrary<KubeObject>>> = {
  NodePool: anyPool,
  NodeClaim: anyClaim,
  [nodeClassKind]: anyNodeClass,
  Pod: anyPod,
};

function generated(options: { numRuns: number; seed: number }): Case[] {
  return Object.entries(kinds).flatMap(([kind, any]) => [
    ...fc.sample(any, options).map((object, index): Case => ({
      name: `${kind} ${index}`,
      operation: 'CREATE',
      object,
      odd: false,
    })),
    ...fc.sample(fc.tuple(any, any, fc.boolean()), options).map((pair, index): Case => ({
      name: `${kind} update ${index}`,
      operation: 'UPDATE',
      odd: false,
      ...updated(pair),
    })),
    ...fc.sample(oddly(any), options).map((object, index): Case => ({
      name: `odd ${kind} ${index}`,
      operation: 'CREATE',
      object,
      odd: true,
    })),
    ...fc.sample(fc.tuple(oddly(any), any), options).map(([object, oldObject], index): Case => ({
      name: `odd ${kind} update ${index}`,
      operation: 'UPDATE',
      object,
      oldObject,
      odd: true,
    })),
  ]);
}

/** A change of everything, or of nothing but what anybody may write at any time. */
function updated([before, after, isTouch]: [KubeObject, KubeObject, boolean]): Pick<
  Case,
  'object' | 'oldObject'
> {
  if (!isTouch) return { oldObject: before, object: after };
  const { metadata } = before;
  const annotations = { ...metadata?.annotations, touched: 'true' };
  return {
    oldObject: before,
    object: { ...before, metadata: { ...metadata, annotations, finalizers: [] } },
  };
}
