import { backends, type Kind } from "./contestant.ts";
import { judge } from "./goals.ts";
import { count, latency, times } from "./numbers.ts";
import { type Cell, type ContestantInfo, findCell, plainOf, type Results } from "./results.ts";
import { ratio } from "./statistics.ts";

const columns = ["per second", "±", "× plain", "p50 ms", "p99 ms"];

/** The results as text: a table for each backend and concurrency, then what became of the goals. */
export function renderTables(results: Results): string {
  const concurrencies = [...new Set(results.cells.map(({ concurrency }) => concurrency))];
  const tables = backends.flatMap((backend) =>
    concurrencies.flatMap((concurrency) => {
      const rows = results.contestants
        .filter((contestant) => contestant.backend === backend)
        .filter(({ name }) => findCell(results.cells, name, concurrency, "first"))
        .map((contestant) => row(contestant, concurrency, results.cells));
      if (rows.length === 0) return [];
      const calls = concurrency === 1 ? "1 call" : `${concurrency} calls`;
      const title = `${results.machine.backends[backend] ?? backend}: ${calls} in flight`;
      const head = ["", ...columns, "│", ...columns];
      const groups = ["", "first", "", "", "", "", "│", "again", "", "", "", ""];
      return [`${title}\n${align([groups, head, ...rows])}`];
    }),
  );
  return [...tables, goalTable(results.cells), growthLines(results), ...absences(results)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function row(contestant: ContestantInfo, concurrency: number, cells: readonly Cell[]): string[] {
  const figures = (kind: Kind) => {
    const cell = findCell(cells, contestant.name, concurrency, kind);
    if (!cell) return columns.map(() => "");
    const { median, min, max } = cell.perSecond;
    const plain = findCell(cells, plainOf(contestant.backend), concurrency, kind);
    return [
      count(median),
      `${Math.round(((max - min) / 2 / median) * 100)} %`,
      plain ? times(ratio(cell.perSecond.rounds, plain.perSecond.rounds).median) : "",
      latency(cell.p50Ms.median),
      latency(cell.p99Ms.median),
    ];
  };
  return [label(contestant), ...figures("first"), "│", ...figures("duplicate")];
}

/** The name without its backend, with the size of its batches. */
export function label({ name, backend, batchSize, side }: ContestantInfo): string {
  const own = name.slice(backend.length + 1);
  return side === "ours" && batchSize > 1 ? `${own} of ${batchSize}` : own;
}

function goalTable(cells: readonly Cell[]): string {
  const outcomes = judge(cells);
  if (outcomes.length === 0) return "";
  const rows = outcomes.map(({ contestant, against, atLeast, concurrency, kind, reached, met }) => [
    contestant,
    against,
    `at ${concurrency}`,
    kind,
    times(reached.median),
    `(${times(reached.min)} to ${times(reached.max)})`,
    `goal ${times(atLeast)}`,
    met ? "met" : "MISSED",
  ]);
  const met = outcomes.filter((outcome) => outcome.met).length;
  return `Goals: ${met} of ${outcomes.length} met\n${align(rows)}`;
}

function growthLines({ growth, purge }: Results): string {
  const lines: string[] = [];
  if (growth) {
    for (const kind of ["first", "duplicate"] as const) {
      const { small, large, ratio: share } = growth.kinds[kind];
      lines.push(
        `${kind}: ${count(small.median)}/s with ${count(growth.smallMarks)} marks, ${count(large.median)}/s with ${count(growth.largeMarks)}: ${times(share.median)} (goal ${times(0.8)})`,
      );
    }
  }
  if (purge) {
    lines.push(
      `Purge beside ${count(purge.inflowPerSecond)} new marks per second: deletes ${count(purge.purgedPerSecond)} per second, ` +
        `${count(purge.expiredBefore)} expired marks before and ${count(purge.expiredAfter)} after; ` +
        `p99 of seen ${latency(purge.p99MsWithout)} ms without it and ${latency(purge.p99MsWith)} ms with it`,
    );
  }
  return lines.length > 0 ? `Postgres as it grows\n${lines.join("\n")}` : "";
}

function absences({ absent }: Results): string[] {
  return absent.map(({ name, reason }) => `${name} was left out: ${reason}`);
}

/** The first column to the left, all others to the right. */
function align(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const cells of rows) {
    cells.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  return rows
    .map((cells) =>
      cells
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
