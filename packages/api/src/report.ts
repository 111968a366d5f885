// Writes the reports of the public surface anew: pnpm api, see README.md.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entryPoints } from "./entry-points.ts";
import { reportFile, reportFolder, surfaces } from "./surface.ts";

const reports = surfaces(entryPoints());
mkdirSync(reportFolder, { recursive: true });
for (const file of readdirSync(reportFolder)) rmSync(join(reportFolder, file));
for (const [name, report] of reports) {
  writeFileSync(join(reportFolder, reportFile({ name })), report);
  console.log(`${join(reportFolder, reportFile({ name }))}`);
}
