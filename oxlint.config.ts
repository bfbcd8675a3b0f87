import { defineConfig, type OxlintConfig } from 'oxlint';

/** The house: which rooms a room may import. docs/architecture.md draws it. */
const mayImport: Record<string, readonly string[]> = {
  schemas: [],
  pki: [],
  kube: ['schemas'],
  scheduling: ['schemas'],
  machine: ['schemas', 'pki'],
  controller: ['schemas', 'pki', 'kube', 'scheduling', 'machine'],
  webhook: ['schemas', 'kube', 'pki'],
  cli: ['schemas', 'machine'],
  scripts: ['schemas'],
};
const rooms = [...Object.keys(mayImport), 'sandbox', 'test'];

const arrows: OxlintConfig['overrides'] = Object.entries(mayImport).map(([room, allowed]) => ({
  files: [`${room}/**`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            group: rooms
              .filter((other) => other !== room && !allowed.includes(other))
              .flatMap((other) => [`#${other}/**`, `../**/${other}/**`]),
            message: `${room}/ may import only: ${allowed.join(', ') || 'no other room'}`,
          },
        ],
      },
    ],
  },
}));

export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'promise', 'node', 'vitest'],
  categories: { correctness: 'error' },
  options: { typeAware: true },
  overrides: arrows,
  ignorePatterns: ['dist', 'schemas/generated'],
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    complexity: ['error', 10],
    'max-depth': ['error', 3],
    'max-lines': ['error', 400],
  },
});
