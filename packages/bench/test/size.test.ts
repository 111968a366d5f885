import { expect, it } from "vitest";
import { budgets } from "../src/size/budgets.ts";
import {
  bundlePackage,
  measureGzipped,
  measureImports,
  measureInstalled,
  type SizeFigure,
} from "../src/size/measure.ts";
import { isOver } from "../src/size/over-budget.ts";
import { core, stores } from "../src/size/packages.ts";

const measured: SizeFigure[] = [];

async function expectWithinBudget(figures: Promise<SizeFigure[]>): Promise<void> {
  const found = await figures;
  measured.push(...found);
  for (const figure of found) {
    expect(budgets, "every figure has a budget").toHaveProperty([figure.name]);
    expect(figure.value.min).toBeGreaterThan(0);
  }
  expect(found.filter(isOver)).toEqual([]);
}

it("what a program loads stays within its budget", { timeout: 60_000 }, () =>
  expectWithinBudget(measureGzipped()),
);

it("what a user installs stays within its budget", { timeout: 60_000 }, () =>
  expectWithinBudget(measureInstalled()),
);

it("what importing takes stays within its budget", { timeout: 60_000 }, () =>
  expectWithinBudget(measureImports(3)),
);

it("every budget is for something that is measured", () => {
  expect(measured.map(({ name }) => name).sort()).toEqual(Object.keys(budgets).sort());
});

it("core loads nothing but modules of Node, and a store nothing but those, core and its driver", {
  timeout: 60_000,
}, async () => {
  const outside = async (bundled: typeof core) =>
    (await bundlePackage(bundled)).imports.filter((name) => !name.startsWith("node:"));
  expect(await outside(core)).toEqual([]);
  for (const store of stores) {
    const allowed = [core.name, `${core.name}/backend`, store.driver];
    expect(allowed).toEqual(expect.arrayContaining(await outside(store)));
  }
});

it("a figure over its budget is noticed", () => {
  const figure = (value: number): SizeFigure => ({
    name: "core, installed",
    unit: "bytes",
    value: { median: value, min: value, max: value, rounds: [value] },
  });
  const budget = budgets["core, installed"] ?? 0;
  expect(isOver(figure(budget))).toBe(false);
  expect(isOver(figure(budget + 1))).toBe(true);
});
