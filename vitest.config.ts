import { defineConfig } from 'vitest/config';

/** Tests that start control planes. */
function onControlPlane(name: string, groupOrder: number, maxWorkers: number) {
  return {
    test: {
      name,
      include: [`test/${name}/**/*.test.ts`],
      globalSetup: ['test/control-plane.ts'],
      maxWorkers,
      sequence: { groupOrder },
      testTimeout: 150_000,
      hookTimeout: 120_000,
    },
  };
}

export default defineConfig({
  test: {
    // V8 loses count of its code pages once in many threads' ends where it protects them by hardware keys, and ends the
    // process: "Check failed: jit_page.has_value()" (archestra-ai/archestra#6177, nodejs/node#64500).
    execArgv: ['--no-memory-protection-keys'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['*/**/*.test.ts'],
          exclude: ['test/**', 'node_modules/**', 'dist/**'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          testTimeout: 30_000, // properties take a second, or ten on a computer that is busy
        },
      },
      onControlPlane('integration', 1, 3),
      // Outages, killed leaders, rotation under load: what takes its time by nature.
      onControlPlane('endurance', 2, 2),
    ],
  },
});
