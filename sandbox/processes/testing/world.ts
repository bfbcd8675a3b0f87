/**
 * A world of one sleeping process, for the tests of how worlds end. Usage: world.ts ROOT
 * Prints its run's folder once it stands.
 */
import { Run } from '../run.ts';
import { onShutdown } from '../shutdown.ts';

const run = await Run.open('world', process.argv[2]);
onShutdown(async () => run.close());
run.start({ name: 'sleeper', command: ['sleep', '1000'] });
console.log(run.dir);
setInterval(() => {}, 1000); // until it is told to end
