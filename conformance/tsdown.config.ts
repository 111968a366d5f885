import { defineConfig } from "tsdown";
import { base } from "../tsdown.base.ts";

export default defineConfig([
  { ...base, entry: ["src/index.ts"] },
  // The command is started and never imported.
  { ...base, entry: ["src/cli.ts"], format: ["esm"], dts: false, clean: false },
]);
