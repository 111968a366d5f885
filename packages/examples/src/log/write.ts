// Writes the delivery log that the demo reads: `pnpm generate`.
import { writeFileSync } from "node:fs";
import { shippedLog } from "../demo/log-source.ts";
import { generateLog, shippedSeed } from "./generate.ts";

writeFileSync(shippedLog, generateLog(shippedSeed));
