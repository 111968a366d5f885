// Makes the reference of all published packages from their docstrings: pnpm reference, see README.md.
import { fileURLToPath } from "node:url";
import { readReference } from "./make-reference.ts";

const folder = fileURLToPath(new URL("../dist/", import.meta.url));
const reference = await readReference();
await reference.write(folder);
for (const warning of reference.warnings) console.error(warning);
console.log(`${folder}index.html`);
if (reference.warnings.length > 0) process.exitCode = 1;
