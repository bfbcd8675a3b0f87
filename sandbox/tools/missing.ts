/** Programs are missing and cannot be made here; the message names them and both ways to get them. */
export class MissingTools extends Error {
  override readonly name = 'MissingTools';

  constructor(missing: readonly string[]) {
    super(
      `The sandbox needs ${missing.join(', ')}, and there is no Go on PATH to build them. ` +
        'Either install Go 1.26 or newer (https://go.dev/dl) and start again: they are then built once from the ' +
        'pinned modules in sandbox/. Or set KUBEBUILDER_ASSETS to a folder that holds programs of these names ' +
        "(Karpenter's CRDs as YAML files in its subfolder karpenter-crds).",
    );
  }
}
