import fc from 'fast-check';
import { expect, test } from 'vitest';

import { kinds } from './place.ts';
import { type Happening, Story } from './testing/story.ts';

const claim = fc.nat({ max: 1 });
const kind = fc.constantFrom(...kinds);
const what = fc.constantFrom('list' as const, 'removal' as const, undefined);
const of = <Is extends string>(is: Is) => fc.constant(is);
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ is: fc.constantFrom('comes', 'ends'), claim }) },
  { weight: 4, arbitrary: fc.record({ is: of('makes'), claim, kind }) },
  { weight: 3, arbitrary: fc.record({ is: of('fails'), kind, what }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constantFrom('claims cannot be read', 'restart') }) },
  { weight: 5, arbitrary: fc.record({ is: of('round'), after: fc.constantFrom(0, 4, 5, 60) }) },
);

test('whatever fails and whenever: nothing goes that has its claim, nothing early, nothing out of order, and in the end all of it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 20, maxLength: 60 }), async (events) => {
      const story = new Story();
      for (const one of events) {
        // oxlint-disable-next-line no-await-in-loop -- a story
        await story.happen(one);
      }
      story.mend();
      const kept = story.claimed;
      await story.pass(3);
      expect(story.wrongs).toEqual([]);
      expect(story.left.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
    }),
    { numRuns: 150 },
  );
});
