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

/** A package whose types name `Symbol.asyncDispose` says where that comes from: a user may have neither it nor Node's types. */
export const baseOfStores: UserConfig = {
  ...base,
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
};
