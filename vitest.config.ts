import { defineConfig } from "vitest/config";

// Every package runs its tests with this file and its own folder as the root. The packages of the workspace resolve to
// their sources, so that a test, its coverage and a worker process that it starts all see the same code.
export default defineConfig({
  resolve: { conditions: ["@bq/source"] },
  ssr: { resolve: { conditions: ["@bq/source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    reporters: ["default", ["json", { outputFile: "reports/vitest.json" }]],
  },
});
