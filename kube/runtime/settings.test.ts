import { expect, test } from 'vitest';

import { InvalidSettings, SettingsReader } from './settings.ts';

test('what is not set has its default', () => {
  const settings = new SettingsReader({ LOG_LEVEL: '' });
  expect(settings.oneOf('LOG_LEVEL', ['info', 'debug'], 'info')).toBe('info');
  expect(settings.port('METRICS_PORT', 8080)).toBe(8080);
  expect(settings.duration('BATCH_IDLE_DURATION', '1s')).toBe(1000);
  expect(settings.list('DNS_SERVERS')).toEqual([]);
  settings.finish();
});

test('a start that fails names every mistake at once, with its code', () => {
  const settings = new SettingsReader({ METRICS_PORT: '99999', LOG_LEVEL: 'loud' });
  settings.port('METRICS_PORT', 8080);
  settings.oneOf('LOG_LEVEL', ['info', 'debug'], 'info');
  settings.duration('BATCH_IDLE_DURATION', '1 second');
  settings.text('SYSTEM_NAMESPACE');
  expect(() => settings.finish()).toThrow(InvalidSettings);
  expect(() => settings.finish()).toThrow(
    /METRICS_PORT is "99999".*\nLOG_LEVEL is "loud".*info, debug\nBATCH_IDLE.*\nSYSTEM_NAMESPACE must be set.*KPU301/,
  );
});

test('lists are split at commas', () => {
  const settings = new SettingsReader({ DNS_SERVERS: ' 10.0.0.2, 10.0.0.3:5353 ,' });
  expect(settings.list('DNS_SERVERS')).toEqual(['10.0.0.2', '10.0.0.3:5353']);
});
