import { readTarball } from "../tarball.ts";
import type { PlannedRelease } from "./plan.ts";

/** What a maintainer reads before a release: versions, changelogs and the files of each tarball. */
export function showPlan(plan: readonly PlannedRelease[]): string {
  const changed = plan.filter(({ from, to }) => from !== to);
  const verdict =
    changed.length === 0
      ? "Nothing to release: no changeset waits. The tarballs are those of today's versions."
      : `${changed.length} of ${plan.length} packages would be published.`;
  return [...plan.map(showPackage), verdict].join("\n");
}

function showPackage({ name, from, to, changes, tarball }: PlannedRelease): string {
  const files = [...readTarball(tarball)].map(([path, content]) => ({ path, bytes: content.length }));
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const width = Math.max(...files.map(({ bytes }) => String(bytes).length));
  const lines = [
    `${name} ${from === to ? `${from}, unchanged` : `${from} -> ${to}`}`,
    "",
    ...indented(changes === "" ? [] : [...changes.split("\n"), ""]),
    ...indented([tarball, `${files.length} files, ${total} bytes unpacked`]),
    ...indented(files.map(({ path, bytes }) => `  ${String(bytes).padStart(width)}  ${path}`)),
    "",
  ];
  return lines.join("\n");
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}
