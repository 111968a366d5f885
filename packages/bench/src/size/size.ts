// Prints how big the built packages are and how long they take to load, beside their budgets: pnpm size, see README.md.
import { count } from "../numbers.ts";
import { budgets } from "./budgets.ts";
import {
  measureDriverImports,
  measureGzipped,
  measureImports,
  measureInstalled,
  type SizeFigure,
} from "./measure.ts";
import { isOver } from "./over-budget.ts";

const processes = 9;

const figures = [
  ...(await measureGzipped()),
  ...(await measureInstalled()),
  ...(await measureImports(processes)),
  ...(await measureDriverImports(processes)),
];
const width = Math.max(...figures.map(({ name }) => name.length));
for (const figure of figures) console.log(line(figure));
if (figures.some(isOver)) process.exitCode = 1;

function line(figure: SizeFigure): string {
  const { name, unit, value } = figure;
  const budget = budgets[name];
  const shown = unit === "ms" ? value.median.toFixed(1) : count(value.median);
  const verdict = budget === undefined ? "" : `  of ${count(budget)}${isOver(figure) ? "  TOO MUCH" : ""}`;
  return `${name.padEnd(width)}  ${shown.padStart(9)} ${unit.padEnd(5)}${verdict}`.trimEnd();
}
