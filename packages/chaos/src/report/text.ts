import type { RunReport, ScenarioReport } from "./report.ts";

/** The report for a person: what was done, every double with its reason, and a table at the end. */
export function renderReport(report: RunReport): string {
  return [
    ...report.scenarios.flatMap(renderDoubles),
    "",
    renderFaults(report.scenarios),
    "",
    renderTable(report.scenarios),
    "",
    ...report.scenarios.flatMap(renderProblems),
    ...report.leftovers.map((process) => `This process was still there at the end: ${process}`),
    conclusion(report),
    "",
  ].join("\n");
}

function renderDoubles({ scenario, doubled }: ScenarioReport): string[] {
  if (doubled.length === 0) return [];
  const lines = doubled.map(
    ({ id, effects, because }) => `  ${id}  ${effects.join(", ")}: ${because.join("; ")}`,
  );
  return ["", `${scenario}, more than one effect:`, ...lines];
}

function renderFaults(scenarios: readonly ScenarioReport[]): string {
  const counts = new Map<string, number>();
  for (const { faultCounts } of scenarios) {
    for (const [kind, count] of Object.entries(faultCounts))
      counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  const lines = [...counts].sort().map(([kind, count]) => `  ${String(count).padStart(5)}  ${kind}`);
  return ["Faults injected:", ...lines].join("\n");
}

const columns: readonly [title: string, cell: (scenario: ScenarioReport) => string][] = [
  ["scenario", ({ scenario }) => scenario],
  ["messages", ({ messages }) => number(messages)],
  ["deliveries", ({ deliveries }) => number(deliveries)],
  ["effects", ({ effects }) => number(effects)],
  ["faults", ({ faults }) => number(faults.length)],
  ["lost", ({ lost }) => number(lost.length)],
  ["doubled", ({ doubled }) => number(doubled.length)],
  ["by reason", ({ explainedBy }) => reasons(explainedBy)],
  ["", ({ passed }) => (passed ? "" : "FAILED")],
];

function renderTable(scenarios: readonly ScenarioReport[]): string {
  const rows = [
    columns.map(([title]) => title),
    ...scenarios.map((each) => columns.map(([, cell]) => cell(each))),
  ];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const leftAligned = (index: number) => index === 0 || index >= 7;
  return rows
    .map((row) =>
      row
        .map((cell, index) =>
          leftAligned(index) ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function reasons(explainedBy: Readonly<Record<string, number>>): string {
  return Object.entries(explainedBy)
    .map(([rule, count]) => `${rule} ${count}`)
    .join(", ");
}

function renderProblems({ scenario, problems }: ScenarioReport): string[] {
  return problems.map((problem) => `${scenario}: ${problem}`);
}

function conclusion({ seed, totals, passed, durationMs }: RunReport): string {
  const { messages, deliveries, faults, lost, doubled, unexplained } = totals;
  const figures = `${number(messages)} messages in ${number(deliveries)} deliveries under ${number(faults)} faults: ${number(lost)} lost, ${number(doubled)} doubled, ${number(unexplained)} without a reason`;
  return `${passed ? "Passed" : "FAILED"}. ${figures}. Seed ${seed}, ${Math.round(durationMs / 1_000)} s.`;
}

/** Thousands apart, in the same way whatever the machine's language. */
function number(figure: number): string {
  return String(figure).replace(/\B(?=(\d{3})+$)/g, " ");
}
