import { beforeEach, expect, test } from 'vitest';

import { Metrics } from '#kube/metrics.ts';
import type { DnsProvider } from '#machine/dns/provider.ts';
import { DnsUnavailable, NodeClassError } from '#machine/errors.ts';
import { faults } from '#machine/faults.ts';
import { nodeClaims } from '#schemas/karpenter/types.ts';
import { secrets } from '#schemas/kubernetes/resource.ts';
import { minutes } from '#schemas/time/clock.ts';

import { AcmeAccount } from '../../certificates/acme/account.ts';
import { memoryContext } from '../../testing/context.ts';
import { nodeClaim } from '../../testing/objects.ts';
import { LeftoverCollector } from '../collector.ts';
import { Telling } from '../telling.ts';
import { ChallengesThere } from './challenges.ts';

const directoryURL = 'https://acme.example.com/directory';
const name = '_acme-challenge.api.web-1.machines.example.com';

let memory: ReturnType<typeof memoryContext>;
let account: AcmeAccount;
/** What stands in which zone. */
let texts: string[];
let failure: Error | undefined;
let collector: LeftoverCollector;

beforeEach(() => {
  memory = memoryContext();
  account = new AcmeAccount(memory.client, memory.namespace, { directoryURL });
  texts = [`Z1 ${name} of-somebody-else`];
  failure = undefined;
  start();
});

/** As a process does that has just become the leader. */
function start(): void {
  const removeText: DnsProvider['removeText'] = async (zoneID, at, text) => {
    if (failure) throw failure;
    texts = texts.filter((one) => one !== `${zoneID} ${at} ${text}`);
  };
  const dns = { removeText } as DnsProvider & Required<Pick<DnsProvider, 'removeText'>>;
  const places = ['Z1', 'Z2'].map(
    (zoneID) =>
      new ChallengesThere({
        account,
        zone: `Route53 ${zoneID}`,
        zoneID,
        dns,
        nodeClass: 'default',
      }),
  );
  const telling = new Telling(memory.context, new Metrics());
  collector = new LeftoverCollector(memory.context, async () => places, telling);
}

async function rounds(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await collector.collect(new AbortController().signal);
    // oxlint-disable-next-line no-await-in-loop
    await memory.clock.forward(minutes(5));
  }
}

async function putUp(claimUid: string, zoneID: string, text: string): Promise<void> {
  await account.noteChallenge(claimUid, { zoneID, name, text });
  texts.push(`${zoneID} ${name} ${text}`);
}

test('a challenge of a claim that is no more is taken down in its own zone, and those of others stay', async () => {
  const { metadata } = memory.client.seed(nodeClaims, nodeClaim('web-1'));
  await putUp(metadata.uid, 'Z1', 'alive');
  await putUp('gone', 'Z1', 'one');
  await putUp('gone', 'Z2', 'two');

  await rounds(5);

  expect(texts).toEqual([`Z1 ${name} of-somebody-else`, `Z1 ${name} alive`]);
  expect(Object.keys(await account.challenges())).toEqual([metadata.uid]);
});

test('a zone that cannot be changed keeps the note, also over a restart, until it can', async () => {
  await putUp('gone', 'Z1', 'one');
  failure = new DnsUnavailable('the zone is away');
  await rounds(4);
  expect(Object.keys(await account.challenges())).toEqual(['gone']);
  failure = undefined;
  start();
  await rounds(4);
  expect(texts).toEqual([`Z1 ${name} of-somebody-else`]);
  expect(await account.challenges()).toEqual({});
});

test('one that was noted and never stood is forgotten, and no account is made by looking', async () => {
  await rounds(2);
  expect(memory.client.all(secrets)).toEqual([]);
  await account.noteChallenge('gone', { zoneID: 'Z1', name, text: 'never stood' });
  await rounds(4);
  expect(await account.challenges()).toEqual({});
});

test('one of a zone that is gone is gone with it', async () => {
  await putUp('gone', 'Z1', 'one');
  failure = new NodeClassError(faults.zoneNotFound, 'no such zone');
  await rounds(4);
  expect(await account.challenges()).toEqual({});
});
