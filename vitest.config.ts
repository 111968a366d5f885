import { existsSync } from "node:fs";
import { defineConfig } from "vitest/config";

// Every package runs its tests with this file and its own folder as the root. The packages of the workspace resolve to
// their sources, so that a test, its coverage and a worker process that it starts all see the same code. A package whose
// tests share a server per run names the set-up for it in test/global-setup.ts.
export default defineConfig({
  resolve: { conditions: ["@bq/source"] },
  ssr: { resolve: { conditions: ["@bq/source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    // Most of the time a test waits for a server. By itself vitest leaves the second processor of two unused.
    maxWorkers: 2,
    globalSetup: ["test/global-setup.ts"].filter((file) => existsSync(file)),
    reporters: ["default", ["json", { outputFile: "reports/vitest.json" }]],
  },
});
