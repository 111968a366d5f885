import type { Verdict } from "./verdict.ts";

const heading = [
  "",
  "held before",
  "after",
  "bytes per delivery",
  "CPU µs before",
  "after",
  "per second before",
  "after",
];

/** The verdicts for a terminal, a line for each scene, and what is wrong below. */
export function renderTable(verdicts: readonly Verdict[]): string {
  const rows = [heading, ...verdicts.map(rowOf)];
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  "),
  );
  const faults = verdicts.flatMap(({ scene, faults: found }) => found.map((fault) => `${scene}: ${fault}`));
  return [...lines, "", ...(faults.length > 0 ? faults : ["Flat memory and no slow-down."])].join("\n");
}

function rowOf(verdict: Verdict): string[] {
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(2)} MB`;
  const whole = (figure: number) => Math.round(figure).toLocaleString("en").replaceAll(",", " ");
  return [
    verdict.scene,
    megabytes(verdict.heldBefore),
    megabytes(verdict.heldAfter),
    verdict.bytesPerDelivery.toFixed(2),
    verdict.cpuMicrosecondsBefore.toFixed(1),
    verdict.cpuMicrosecondsAfter.toFixed(1),
    whole(verdict.perSecondBefore),
    whole(verdict.perSecondAfter),
  ];
}
