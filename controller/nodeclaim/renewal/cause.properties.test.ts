import fc from 'fast-check';
import { expect, test } from 'vitest';

import { Authority } from '#pki/authority.ts';
import type { ResolvedNodeClass } from '#schemas/nodeclass/types.ts';
import { hours } from '#schemas/time/clock.ts';
import { FakeClock } from '#schemas/time/fake-clock.ts';

import { nodeClassSpec } from '../../testing/objects.ts';
import { causeOf } from './cause.ts';

const made: ResolvedNodeClass = {
  nodeClass: 'default',
  spec: nodeClassSpec(),
  image: { id: 'ami-1', architecture: 'amd64', rootDeviceName: '/dev/xvda' },
  subnets: [],
  securityGroups: [],
  dnsZoneID: 'Z1',
};

test('a certificate that its machine has still to call for is none to renew', () => {
  const tls = { certificate: '', privateKey: '', ca: 'x' };
  expect(causeOf(tls, made, made, new FakeClock())).toBeUndefined();
});

test('replacements end with the authority, and are never more than its life has two thirds of a leaf’s', async () => {
  const lives = fc.record({
    authority: fc.integer({ min: 2, max: 30 }),
    leaf: fc.integer({ min: 1, max: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(lives, async (days) => {
      const clock = new FakeClock();
      const day = hours(24);
      const options = { commonName: 'ca', validity: days.authority * day };
      const authority = await Authority.create(clock, options);
      let replaced = 0;
      let leaf = await authority.issue({ names: ['a.example.com'], validity: days.leaf * day });
      for (let step = 0; step < days.authority * 4; step++) {
        const tls = { ...leaf, ca: authority.pem.certificate };
        if (causeOf(tls, made, made, clock)) {
          replaced += 1;
          // oxlint-disable-next-line no-await-in-loop -- one life after the other
          leaf = await authority.issue({ names: ['a.example.com'], validity: days.leaf * day });
        }
        // oxlint-disable-next-line no-await-in-loop -- as above
        await clock.forward(hours(6));
      }
      const most = Math.ceil(days.authority / ((days.leaf * 2) / 3));
      expect(replaced).toBeLessThanOrEqual(most);
      expect(replaced > 0 || days.leaf >= days.authority / 2).toBe(true);
    }),
    { numRuns: 15 },
  );
});
