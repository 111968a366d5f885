import { budgets } from "./budgets.ts";
import type { SizeFigure } from "./measure.ts";

/** Does a figure exceed its budget? Of several values the smallest counts, the one that nothing else disturbed. */
export function isOver({ name, value }: SizeFigure): boolean {
  const budget = budgets[name];
  return budget !== undefined && value.min > budget;
}
