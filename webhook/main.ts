import { connect } from '#kube/client/connect.ts';
import { UndiciKubeClient } from '#kube/client/undici-client.ts';
import { createLogger } from '#kube/log.ts';
import { runProcess } from '#kube/runtime/process.ts';
import { SystemClock } from '#schemas/time/system-clock.ts';

import { runAdmission } from './admission.ts';
import { readSettings } from './settings.ts';

await runProcess(async (signal) => {
  const settings = readSettings(process.env);
  const log = createLogger({ level: settings.logLevel, name: 'webhook' });
  const clock = new SystemClock();
  const client = new UndiciKubeClient(await connect({ clock }), { clock, log });
  await runAdmission({ client, clock, log, settings }, signal);
});
