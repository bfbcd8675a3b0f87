/**
 * A machine as a process of its own. The one argument is the file with its {@link MachineSpec} as JSON.
 */
import { readFileSync } from 'node:fs';

import { createLogger } from '#kube/log.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { Machine, type MachineSpec } from './machine.ts';

const [, , file = ''] = process.argv;
const spec = JSON.parse(readFileSync(file, 'utf8')) as MachineSpec;
const machine = new Machine(spec, {
  clock: new SystemClock(),
  log: createLogger({ level: 'info', name: 'machine' }),
});
machine.powerOn();
// a mute machine has nothing that keeps its process, but its instance is there
const keep = setInterval(() => undefined, 60_000);
process.once('SIGTERM', () => {
  clearInterval(keep);
  void machine.powerOff();
});
