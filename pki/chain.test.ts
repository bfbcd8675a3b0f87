import { rootCertificates } from 'node:tls';

import { beforeAll, describe, expect, test } from 'vitest';

import { certificateProblem } from './certificate.ts';
import { anchorsOf, certificatePrint, chainProblem } from './chain.ts';
import { newChain, type Chain } from './testing/chains.ts';

const now = { stamp: () => new Date().toISOString() };
let chain: Chain;
let other: Chain;
beforeAll(async () => {
  [chain, other] = await Promise.all([
    newChain(now, ['*.machines.example.com']),
    newChain(now, ['*.machines.example.com']),
  ]);
});

describe('the order of a chain', () => {
  test('is right with each signer after what it signed, with and without the root', () => {
    expect(chainProblem(chain.leaf.certificate)).toBeUndefined();
    expect(chainProblem(chain.whole.certificate)).toBeUndefined();
    expect(chainProblem(chain.whole.certificate + chain.root)).toBeUndefined();
  });

  test('is wrong with one left out, turned round, or of somebody else with the same name', () => {
    const { leaf, intermediate, root } = chain;
    expect(chainProblem(leaf.certificate + root)).toMatch(/certificate 2 .* certificate 1/);
    expect(chainProblem(leaf.certificate + root + intermediate)).toMatch(/certificate 2/);
    expect(chainProblem(chain.whole.certificate + other.root)).toMatch(/certificate 3/);
    expect(chainProblem(leaf.certificate + other.intermediate)).toMatch(/certificate 2/);
  });

  test('cannot be judged of what cannot be read', () => {
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(chainProblem('')).toMatch(/cannot be read/);
    expect(chainProblem(chain.leaf.certificate + broken)).toMatch(/cannot be read/);
  });
});

describe('what makes a chain believed', () => {
  test('is the given authority that signed its last certificate, or is that certificate', () => {
    const given = other.root + chain.root;
    expect(anchorsOf(chain.whole.certificate, given)).toBe(chain.root);
    expect(anchorsOf(chain.whole.certificate + chain.root, given)).toBe(chain.root);
    expect(anchorsOf(chain.leaf.certificate, chain.intermediate)).toBe(chain.intermediate);
  });

  test('is nothing where a signer between is missing, or no public authority signed it', () => {
    expect(anchorsOf(chain.leaf.certificate, chain.root)).toBe('');
    expect(anchorsOf(chain.whole.certificate, other.root)).toBe('');
    expect(anchorsOf(chain.whole.certificate, '')).toBe('');
    expect(anchorsOf(chain.whole.certificate, 'not PEM')).toBe('');
  });

  test('is the public authority alone where none is given', () => {
    const [first = ''] = rootCertificates;
    expect(anchorsOf(first, '')).toBe(`${first.trim()}\n`);
  });
});

test('a certificate is told apart by its first certificate alone', () => {
  expect(certificatePrint(chain.whole.certificate)).toBe(certificatePrint(chain.leaf.certificate));
  expect(certificatePrint(chain.whole.certificate)).not.toBe(
    certificatePrint(other.whole.certificate),
  );
});

test('names are judged as Go judges them, and time left is asked for', async () => {
  const day = 86_400_000;
  const at = now.stamp();
  const { whole } = await newChain(now, ['api-*.example.com', '*.web.example.com'], 2 * day);
  const problem = (expected: object) => certificateProblem(whole, { at, ...expected });
  expect(problem({ names: ['a.web.example.com'] })).toBeUndefined();
  expect(problem({ names: ['api-1.example.com'] })).toMatch(/does not cover/);
  expect(problem({ names: ['a.b.web.example.com'] })).toMatch(/does not cover/);
  expect(problem({ left: day })).toBeUndefined();
  expect(problem({ left: 3 * day })).toMatch(/ends already on/);
});
