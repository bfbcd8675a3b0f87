import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { fault } from '#sandbox/cloud/wire/faults.ts';

import { ours, SharedAccount, theirs } from './account.ts';

let account: SharedAccount;
beforeEach(async () => {
  account = await SharedAccount.open(vi.stubEnv);
});
afterEach(async () => {
  await account.close();
  vi.unstubAllEnvs();
});

/** Two machines of ours, one of which would leave its disk, and one of another cluster. */
async function machines() {
  const first = await account.machine(ours, 'web-1');
  const second = await account.machine(ours, 'web-2', true);
  const foreign = await account.machine(theirs, 'web-3', true);
  return { first, second, foreign };
}
const namesIn = ({ records }: ReturnType<SharedAccount['contents']>) =>
  records.map(({ name, type }) => `${name} ${type}`);

/** A record that nobody marked. */
function strangers(count: number): void {
  const records = Array.from({ length: count }, (_, index) => {
    const name = `a-${String(index).padStart(4, '0')}.${account.zone.name}`;
    return [`${name} A`, { name, type: 'A', ttl: 60, values: ['192.0.2.1'] }] as const;
  });
  account.zone.records = new Map([...account.zone.records, ...records]);
}

test('what one cluster left is shown, and nothing is changed until it is confirmed', async () => {
  const { first, second, foreign } = await machines();
  const before = account.contents();

  const { done, said } = await account.clean(ours, false);

  expect(done).toBe(true);
  expect(said).toMatch(new RegExp(`^${first} +m7i.large +running +\\S+ +web-1`, 'm'));
  expect(said).toContain(second);
  expect(said).toContain('api.web-1.machines.sandbox.test');
  expect(said).toMatch(/^vol-\w+ +in-use +\S+ +i-/m);
  expect(said).not.toContain(foreign);
  expect(said).not.toContain('web-3');
  expect(account.contents()).toEqual(before);
});

test('all of it goes, to the disk that outlives its machine, and what others have stays', async () => {
  strangers(1);
  const { foreign } = await machines();

  const { done, said } = await account.clean(ours);

  expect(said).toContain('All of it is removed');
  expect(done).toBe(true);
  const left = account.contents();
  expect(left.instances).toEqual([`${foreign} running`]);
  expect(account.ec2.instances.volumes.all.map(({ instance }) => instance)).toEqual([foreign]);
  expect(account.ec2.instances.interfaces.all.map(({ instance }) => instance)).toEqual([foreign]);
  expect(namesIn(left).filter((name) => !name.includes('web-3'))).toEqual([
    'a-0000.machines.sandbox.test. A',
  ]);
  expect(namesIn(left)).toHaveLength(5); // two names with their ownership, and the stranger

  const again = await account.clean(ours);
  expect(again).toMatchObject({ done: true });
  expect(again.said).toContain('Nothing of cluster');
  expect(account.contents()).toEqual(left);
});

test.for([
  'DescribeInstances',
  'DescribeVolumes',
  'DescribeNetworkInterfaces',
  'ListResourceRecordSets',
])('nothing is removed where %s fails', async (action) => {
  await machines();
  const before = account.contents();
  const denied = { code: 'AccessDenied', status: 403 };
  if (action.startsWith('Describe')) account.ec2.faults.next(action, fault(denied));
  else account.route53.faults.next(action, fault(denied));

  const { done, said } = await account.clean(ours);

  expect(done).toBe(false);
  expect(said).toMatch(/could not be read: .*AccessDenied[^]*Nothing was removed\. \(KPU601\)/);
  expect(account.contents()).toEqual(before);
});

test('nothing is removed where only the first page of a zone can be read', async () => {
  strangers(400); // a page has 300
  await machines();
  const before = account.contents();
  const isLater = ({ query }: { query: URLSearchParams }): boolean => query.has('name');
  const silent = fault({ code: 'ServiceUnavailable', status: 503, when: isLater });
  account.route53.faults.next('ListResourceRecordSets', silent);

  const { done, said } = await account.clean(ours);

  expect(done).toBe(false);
  expect(said).toContain('KPU601');
  expect(account.contents()).toEqual(before);
});

test('a protected machine stays and is named, the others end, and the same command goes on from there', async () => {
  const { first, second, foreign } = await machines();
  account.ec2.instances.get(first)!.isProtected = true;

  const stopped = await account.clean(ours);

  expect(stopped.done).toBe(false);
  expect(stopped.said).toMatch(new RegExp(`${first} is still there: .*KPU331`));
  expect(stopped.said).toContain('KPU602');
  expect(account.contents().instances).toEqual([`${first} running`, `${foreign} running`]);
  expect(account.ec2.instances.volumes.left).toHaveLength(1); // of the second; volumes come after

  account.ec2.instances.get(first)!.isProtected = false;
  expect(await account.clean(ours)).toMatchObject({ done: true });
  expect(account.contents().instances).toEqual([`${foreign} running`]);
  expect(account.ec2.instances.get(second)!.state).toBe('terminated');
  expect(account.ec2.instances.volumes.left).toEqual([]);
});

test('no machine ends while a name of it cannot be removed, since its address would be somebody else’s', async () => {
  const { first, second, foreign } = await machines();
  const isOfFirst = ({ changes }: { changes: readonly { record: { name: string } }[] }): boolean =>
    changes.some(({ record }) => record.name.includes('api.web-1.'));
  const refused = fault({ code: 'AccessDenied', status: 403, times: Infinity, when: isOfFirst });
  const mend = account.route53.faults.next('ChangeResourceRecordSets', refused);

  const stopped = await account.clean(ours);

  expect(stopped.done).toBe(false);
  expect(stopped.said).toMatch(
    /api\.web-1\.machines\.sandbox\.test is still there: .*AccessDenied/,
  );
  const running = [first, second, foreign].map((id) => `${id} running`);
  expect(account.contents().instances).toEqual(running);

  mend();
  expect(await account.clean(ours)).toMatchObject({ done: true });
  expect(account.contents().instances).toEqual([`${foreign} running`]);
});

test('a machine that comes while all is removed is not touched, and is told of', async () => {
  await machines();
  let late = '';

  const { done, said } = await account.clean(ours, true, async () => {
    late = await account.machine(ours, 'web-9');
  });

  expect(done).toBe(false);
  expect(said).toMatch(new RegExp(`come meanwhile:[^]*${late}[^]*KPU603`));
  expect(account.contents().instances).toContain(`${late} running`);
});
