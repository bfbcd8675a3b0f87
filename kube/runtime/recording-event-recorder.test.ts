import { expect, test } from 'vitest';

import { RecordingEventRecorder } from './recording-event-recorder.ts';
import { pod } from './testing/objects.ts';

test('a story can be read back: by reasons in order, by object, and from a clean page', () => {
  const recorder = new RecordingEventRecorder();
  for (const [name, reason] of [
    ['web-0', 'FailedScheduling'],
    ['web-1', 'Nominated'],
    ['web-0', 'Nominated'],
  ] as const) {
    recorder.record({ object: pod(name), type: 'Normal', reason, message: '' });
  }

  expect(recorder.reasons).toEqual(['FailedScheduling', 'Nominated', 'Nominated']);
  expect(recorder.about('web-0').map(({ reason }) => reason)).toEqual([
    'FailedScheduling',
    'Nominated',
  ]);
  recorder.reset();
  expect(recorder.notes).toEqual([]);
});
