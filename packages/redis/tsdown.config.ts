import { defineConfig } from "tsdown";
import { baseOfStores } from "../../tsdown.base.ts";

export default defineConfig({ ...baseOfStores, entry: ["src/index.ts"] });
