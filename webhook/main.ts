import { pino } from 'pino';

import { connect } from '#kube/client/connect.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { createLogger } from '#kube/log.ts';
import { runProcess } from '#kube/runtime/process.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { runAdmission } from './admission.ts';
import { readSettings } from './settings.ts';

/**
 * Every Pod that is patched is a line, so lines are written some at a time: at 15 kB, after a second, and at the end.
 * Written one by one they cost a tenth of each review.
 */
const destination = pino.destination({ sync: false, minLength: 15_000, periodicFlush: 1000 });

await runProcess(async (signal) => {
  const settings = readSettings(process.env);
  const log = createLogger({ level: settings.logLevel, name: 'webhook', destination });
  const clock = new SystemClock();
  const client = new UndiciKubeClient(await connect({ clock }), { clock, log });
  await runAdmission({ client, clock, log, settings }, signal);
});
