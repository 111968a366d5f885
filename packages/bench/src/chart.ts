import { type Backend, backends, type Kind, kinds, type Side } from "./contestant.ts";
import { briefly, times } from "./numbers.ts";
import { type Cell, type ContestantInfo, findCell, plainOf, type Results } from "./results.ts";
import { ratio } from "./statistics.ts";
import { element, type Markup } from "./svg.ts";
import { label } from "./table.ts";

const width = 960;
const margin = 24;
const labelWidth = 178;
const columnWidth = (width - 2 * margin - labelWidth) / 2;
/** Right of a bar there is room for its figures. */
const barWidth = columnWidth - 118;
const rowHeight = 22;
const barHeight = 13;
const headerHeight = 104;
const panelHeadHeight = 34;

const titles: Record<Backend, string> = {
  memory: "In memory",
  sqlite: "SQLite",
  redis: "Redis",
  postgres: "Postgres",
};
const kindTitles: Record<Kind, string> = { first: "first deliveries", duplicate: "duplicates" };
const sideTitles: Record<Side, string> = {
  ours: "this library",
  plain: "by hand",
  peer: "other libraries",
  limit: "limit of the backend",
};

// The chart follows the reader's light or dark scheme; each bar also has its own outline, so that colour alone tells nothing.
const style = `
svg { font: 12px ui-sans-serif, system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
.page { fill: #ffffff; } .text { fill: #1f2328; } .dim { fill: #59636e; } .rule, .whisker { stroke: #59636e; }
.ours { fill: #0969da; stroke: #0969da; } .plain { fill: #8c959f; stroke: #6e7781; }
.peer { fill: #bf8700; stroke: #9a6700; } .limit { fill: none; stroke: #59636e; stroke-dasharray: 3 2; }
.title { font-size: 17px; font-weight: 600; } .panel { font-size: 14px; font-weight: 600; } .strong { font-weight: 600; }
@media (prefers-color-scheme: dark) {
.page { fill: #0d1117; } .text { fill: #f0f6fc; } .dim { fill: #9198a1; } .rule, .whisker { stroke: #9198a1; }
.ours { fill: #4493f8; stroke: #4493f8; } .plain { fill: #656c76; stroke: #9198a1; }
.peer { fill: #d29922; stroke: #d29922; } .limit { stroke: #9198a1; }
}`;

/** Draws deliveries per second at 64 calls in flight, or at the most that were measured below that. */
export function renderChart(results: Results): string {
  const concurrency = shownConcurrency(results.cells);
  const panels: Markup[] = [];
  let y = headerHeight;
  for (const backend of backends) {
    const rows = results.contestants.filter(
      (contestant) =>
        contestant.backend === backend && findCell(results.cells, contestant.name, concurrency, "first"),
    );
    if (rows.length === 0) continue;
    panels.push(panel(backend, rows, results, concurrency, y));
    y += panelHeadHeight + rows.length * rowHeight + 18;
  }
  const height = y + 8;
  const title = "Deliveries per second";
  return `${
    element(
      "svg",
      {
        xmlns: "http://www.w3.org/2000/svg",
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `${title}, for each backend and contestant`,
      },
      [
        { svg: `<style>${style}</style>` },
        element("rect", { class: "page", width, height }),
        text(margin, 34, title, "text title"),
        text(margin, 56, caption(results, concurrency), "dim"),
        legend(82),
        ...panels,
      ],
    ).svg
  }\n`;
}

function caption({ rounds, machine, startedAt }: Results, concurrency: number): string {
  const calls = concurrency === 1 ? "1 call" : `${concurrency} calls`;
  return `${calls} in flight; median of ${rounds} interleaved rounds, slowest to fastest as a line; × means times the one by hand; Node ${machine.node}, ${machine.processors} processors, ${startedAt.slice(0, 10)}`;
}

function shownConcurrency(cells: readonly Cell[]): number {
  const measured = cells.map(({ concurrency }) => concurrency);
  return Math.max(...measured.filter((concurrency) => concurrency <= 64), Math.min(...measured));
}

function legend(y: number): Markup {
  const entries = Object.entries(sideTitles).map(([side, title], i) => [
    element("rect", { class: side, x: margin + i * 160, y: y - 10, width: 12, height: 12, rx: 2 }),
    text(margin + i * 160 + 18, y, title, "dim"),
  ]);
  return element("g", {}, entries.flat());
}

function panel(
  backend: Backend,
  rows: readonly ContestantInfo[],
  { cells, machine }: Results,
  concurrency: number,
  y: number,
): Markup {
  const parts = [
    text(margin, y + 14, titles[backend], "text panel"),
    element("title", {}, machine.backends[backend] ?? backend),
  ];
  kinds.forEach((kind, column) => {
    const x = margin + labelWidth + column * columnWidth;
    parts.push(text(x, y + 14, kindTitles[kind], "dim"));
    const found = rows.map(({ name }) => findCell(cells, name, concurrency, kind));
    const most = Math.max(...found.map((cell) => cell?.perSecond.max ?? 0));
    const plain = findCell(cells, plainOf(backend), concurrency, kind);
    rows.forEach((contestant, i) => {
      const cell = found[i];
      if (cell) parts.push(bar(contestant, cell, plain, most, x, y + panelHeadHeight + i * rowHeight - 8));
    });
  });
  rows.forEach((contestant, i) => {
    const strength = contestant.side === "ours" ? "text strong" : "text";
    parts.push(text(margin, y + panelHeadHeight + i * rowHeight + 3, label(contestant), strength));
  });
  return element("g", {}, parts);
}

function bar(
  contestant: ContestantInfo,
  cell: Cell,
  plain: Cell | undefined,
  most: number,
  x: number,
  y: number,
): Markup {
  const { median, min, max, rounds } = cell.perSecond;
  const pixels = (value: number) => (value / most) * barWidth;
  const middle = y + barHeight / 2;
  const compared = plain && plain !== cell ? ` · ${times(ratio(rounds, plain.perSecond.rounds).median)}` : "";
  return element("g", {}, [
    element("rect", {
      class: contestant.side,
      x,
      y,
      width: Math.max(1, pixels(median)),
      height: barHeight,
      rx: 2,
    }),
    element("line", { class: "whisker", x1: x + pixels(min), x2: x + pixels(max), y1: middle, y2: middle }),
    text(x + Math.max(pixels(max), 1) + 8, y + barHeight - 2, `${briefly(median)}/s${compared}`, "text"),
  ]);
}

function text(x: number, y: number, content: string, className: string): Markup {
  return element("text", { x, y, class: className }, content);
}
