import { expect, it } from "vitest";
import { isNarrowed, readArguments, select, UsageError } from "../src/arguments.ts";
import { contestants } from "../src/contestants/index.ts";

it("without options it is the short run of everything, and --full the long one", () => {
  const short = readArguments([]);
  expect(short).toMatchObject({
    task: "run",
    profile: "short",
    rounds: 3,
    concurrencies: [1, 64, 256],
    only: [],
  });
  expect(readArguments(["--full"])).toMatchObject({ profile: "full", rounds: 7, length: { aboutMs: 1_000 } });
  expect(isNarrowed(short)).toBe(false);
  expect(isNarrowed(readArguments(["--full"]))).toBe(false);
});

it("a run of less than everything is not taken for the whole benchmark", () => {
  for (const args of [
    ["--only", "redis"],
    ["--rounds", "1"],
    ["--concurrency", "64"],
    ["--deliveries", "9"],
  ]) {
    expect(isNarrowed(readArguments(args)), args.join(" ")).toBe(true);
  }
});

it("--only takes those whose name holds it, and the plain stores of their backends", () => {
  const names = (...only: string[]) => select(contestants, only).map(({ name }) => name);
  expect(names("powertools")).toEqual(["redis/plain", "redis/powertools"]);
  expect(names("keyv", "wrapTransactional")).toEqual([
    "sqlite/plain",
    "sqlite/wrapTransactional",
    "redis/plain",
    "redis/keyv",
    "postgres/plain",
    "postgres/plain transaction",
    "postgres/wrapTransactional",
  ]);
  expect(names()).toHaveLength(contestants.length);
});

it("what nobody can mean is refused, with the value and the way out", () => {
  expect(() => select(contestants, ["mongodb"])).toThrow(
    "--only mongodb: no contestant has that in its name. There are: memory/plain, ",
  );
  expect(() => readArguments(["--rounds", "0"])).toThrow(
    '--rounds must be a whole number from 1 to 10000000, got "0".',
  );
  expect(() => readArguments(["--concurrency", "1,x"])).toThrow('got "x"');
  expect(() => readArguments(["--deliveries", "1.5"])).toThrow(UsageError);
  expect(() => readArguments(["--fast"])).toThrow(UsageError);
  expect(() => readArguments(["redis"])).toThrow(UsageError);
});
