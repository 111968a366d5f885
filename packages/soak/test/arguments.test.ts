import { expect, it } from "vitest";
import { readArguments, select, UsageError } from "../src/arguments.ts";
import { scenes } from "../src/scenes.ts";

it("without options everything runs, each with its own number of deliveries", () => {
  expect(readArguments([])).toEqual({ task: "run", only: [], deliveries: undefined, folder: undefined });
  expect(select(scenes, [])).toEqual(scenes);
});

it("--only takes those whose name holds one of the parts", () => {
  const { only } = readArguments(["--only", "redis", "--only", "million"]);
  expect(select(scenes, only).map(({ name }) => name)).toEqual([
    "memory/wrap, ten million",
    "redis/wrap",
    "redis/wrapClaiming",
    "redis/wrapBatch",
  ]);
  expect(() => select(scenes, ["nobody"])).toThrow(UsageError);
});

it.each([[["--deliveries", "10"]], [["--deliveries", "1e6"]], [["--fast"]], [["redis"]]])(
  "%j is refused",
  (args) => {
    expect(() => readArguments(args)).toThrow(UsageError);
  },
);
