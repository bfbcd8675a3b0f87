import { expect, test } from 'vitest';

import { censored } from './censor.ts';
import { createLogger, silentLogger, type LogLevel } from './log.ts';

function listen(level: LogLevel = 'debug') {
  const lines: string[] = [];
  const log = createLogger({
    level,
    name: 'controller',
    destination: { write: (l) => lines.push(l) },
  });
  const last = () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
  return { log, lines, last };
}

test('a line is JSON with level, time, program, facts and a sentence', () => {
  const { log, last } = listen();
  log.child({ claim: 'web-1' }).info({ step: 'dns', key: 'default/web' }, 'record made');
  expect(last()).toMatchObject({
    level: 'info',
    name: 'controller',
    claim: 'web-1',
    step: 'dns',
    key: 'default/web',
    msg: 'record made',
  });
});

test('secrets never reach a line, at whatever depth and in whatever shape', () => {
  const { log, lines } = listen();
  const secret = { kind: 'Secret', metadata: { name: 'ca' }, data: { any: 'aHVzaA==-s1' } };
  const listed = { type: 'Opaque', data: { any: 's2-in-a-list' } };
  const pem = '-----BEGIN EC PRIVATE KEY-----\ns3\n-----END EC PRIVATE KEY-----';
  log.child({ token: 's4' }).warn(
    {
      request: { headers: { Authorization: 'Bearer s5', cookie: ['s6'] } },
      made: [{ deep: { secret }, listed }],
      instance: { UserData: 's7', 'tls.key': 's8', clientToken: 'kept-for-tracing' },
      config: new Map([['password', 's9']]),
      text: `answer to Bearer s10aaaaaaaaaaaa with ${pem}`,
    },
    `sent Basic s11aaaaaaaaaaaaa`,
  );
  expect(lines.join('')).not.toMatch(/\bs\d+/);
  expect(lines.join('')).toContain(censored);
  expect(lines.join('')).toContain('kept-for-tracing');
});

test('what only names a secret is kept, and so is the data of a ConfigMap', () => {
  const { log, last } = listen();
  const facts = {
    volume: { secret: { secretName: 'tls' } },
    configMap: { kind: 'ConfigMap', data: { a: 'b' } },
    token: '',
  };
  log.info(facts, 'seen');
  expect(last()).toMatchObject(facts);
});

test('an error keeps its fields and its cause and loses its secrets', () => {
  const { log, last } = listen();
  const cause = Object.assign(new Error('refused: Bearer abcdefghijkl'), { password: 'p' });
  log.error(new Error('no answer', { cause }), 'call failed');
  expect(last()).toMatchObject({
    err: { type: 'Error', message: 'no answer', cause: { password: censored } },
  });
  expect(JSON.stringify(last())).not.toContain('abcdefghijkl');
});

test('what JSON cannot hold is written all the same', () => {
  const { log, last } = listen();
  const circle: Record<string, unknown> = { cpu: 4n };
  circle['self'] = circle;
  log.info({ circle }, 'odd');
  expect(last()).toMatchObject({ circle: { cpu: '4' } });
});

test('a level that is off writes nothing', () => {
  const { log, lines } = listen('warn');
  log.info({}, 'quiet');
  silentLogger.child({}).error({}, 'quieter');
  expect(lines).toEqual([]);
});
