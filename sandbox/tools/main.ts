/** `node sandbox/tools/main.ts`: builds what is missing and prints where the tools are, as JSON. */
import { SystemClock } from '#schemas/time/system-clock.ts';

import { ScreenProgress } from './progress.ts';
import { ensureTools } from './tools.ts';

const tools = await ensureTools(new ScreenProgress(process.stderr, new SystemClock()));
console.log(JSON.stringify(tools, undefined, 2));
