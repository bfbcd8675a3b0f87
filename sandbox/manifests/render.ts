import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { parseAllDocuments } from 'yaml';

import type { KubeObject } from '#schemas/kubernetes/meta.ts';

/** An object that says what it is and how it is called, as everything that can be applied does. */
export type Manifest = KubeObject & {
  apiVersion: string;
  kind: string;
  metadata: NonNullable<KubeObject['metadata']> & { name: string };
};

/** YAML that cannot be read, or an object in it without apiVersion, kind or name; says which file and which. */
export class BadManifest extends Error {
  override readonly name = 'BadManifest';
}

/**
 * The objects of a kustomization, built by `kubectl kustomize`.
 *
 * @param directory holds kustomization.yaml
 * @throws BadManifest with what kustomize said
 */
export async function render(kubectl: string, directory: string): Promise<Manifest[]> {
  const maxBuffer = 64 * 1024 * 1024;
  const { stdout } = await promisify(execFile)(kubectl, ['kustomize', directory], {
    maxBuffer,
  }).catch((error: Error & { stderr?: string }) => {
    throw new BadManifest(`kustomize ${directory}: ${error.stderr?.trim() || error.message}`);
  });
  return parseManifests(stdout, directory);
}

/** The objects of YAML files, in order. */
export async function readManifests(files: readonly string[]): Promise<Manifest[]> {
  const read = async (file: string): Promise<Manifest[]> =>
    parseManifests(await readFile(file, 'utf8'), file);
  return (await Promise.all(files.map(read))).flat();
}

/** @param source what to call the text in errors */
export function parseManifests(text: string, source: string): Manifest[] {
  const documents = parseAllDocuments(text);
  const broken = [...documents].flatMap((document) => document.errors)[0];
  if (broken) throw new BadManifest(`${source}: ${broken.message}`);
  return [...documents]
    .map((document) => document.toJS() as unknown)
    .filter((value) => value !== null)
    .map((value, index) => check(value, `${source}, document ${index + 1}`));
}

function check(value: unknown, where: string): Manifest {
  const { apiVersion, kind, metadata } = value as Partial<Manifest>;
  const missing = Object.entries({ apiVersion, kind, 'metadata.name': metadata?.name })
    .filter(([, field]) => typeof field !== 'string' || field === '')
    .map(([field]) => field);
  if (missing.length > 0) throw new BadManifest(`${where}: ${missing.join(', ')} is missing`);
  return value as Manifest;
}
