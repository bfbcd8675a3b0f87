import { admissionFiles } from './admission.ts';
import { cloudTroublesFiles } from './cloud-troubles.ts';
import { codesFiles } from './codes.ts';
import { crdFile, crdKustomization } from './crd.ts';
import { defaultsFiles } from './defaults.ts';
import type { Generated } from './files.ts';
import { kinds, type Kind } from './kinds.ts';
import { mutatingPolicyFiles } from './mutating-policy.ts';
import { policyFiles } from './policies.ts';
import { quotaPolicyFiles } from './quota-policies.ts';
import { referenceFile } from './reference.ts';
import { readSource, resolveSource } from './schema.ts';
import { typeFile } from './types.ts';

/** Every generated file as it should be. Needs no network; the same sources give the same bytes. */
export async function generateAll(): Promise<Generated[]> {
  const ofKinds = await Promise.all(kinds.map(filesOf));
  return [
    ...ofKinds.flat(),
    crdKustomization(kinds),
    ...codesFiles(),
    ...cloudTroublesFiles(),
    ...admissionFiles(),
    ...policyFiles(),
    ...mutatingPolicyFiles(),
    ...quotaPolicyFiles(),
  ];
}

async function filesOf(kind: Kind): Promise<Generated[]> {
  const source = readSource(kind);
  const schema = resolveSource(source, kind);
  return [
    crdFile(schema, kind),
    await typeFile(source, kind),
    ...defaultsFiles(schema, kind),
    referenceFile(schema, kind),
  ];
}
