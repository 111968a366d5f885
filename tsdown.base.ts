import type { UserConfig } from "tsdown";

/** What every published package builds: ESM and CommonJS for Node 20, each with its own types. */
export const base: UserConfig = {
  format: ["esm", "cjs"],
  target: "node20",
  platform: "node",
  dts: true,
  sourcemap: true,
  clean: true,
  fixedExtension: true,
};
