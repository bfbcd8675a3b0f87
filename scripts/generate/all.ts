import { admissionFiles } from './admission.ts';
import { codesFiles } from './codes.ts';
import { crdFiles } from './crd.ts';
import { defaultsFiles } from './defaults.ts';
import type { Generated } from './files.ts';
import { referenceFiles } from './reference.ts';
import { readSource, resolveSource } from './schema.ts';
import { typeFiles } from './types.ts';

/** Every generated file as it should be. Needs no network; the same sources give the same bytes. */
export async function generateAll(): Promise<Generated[]> {
  const source = readSource();
  const schema = resolveSource(source);
  return [
    ...crdFiles(schema),
    ...(await typeFiles(source)),
    ...defaultsFiles(schema),
    ...referenceFiles(schema),
    ...codesFiles(),
    ...admissionFiles(),
  ];
}
