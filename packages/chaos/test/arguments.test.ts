import { expect, it } from "vitest";
import { readArguments, UsageError } from "../src/arguments.ts";
import { allScenarios, halfOfTheScenarios, nameOf } from "../src/scenarios.ts";

it("without options it is a run of three minutes over all scenarios, with a seed of chance", () => {
  const read = readArguments([]);
  expect(read).toMatchObject({ task: "run", minutes: 3, breakage: undefined, json: undefined });
  expect(read.chosen).toEqual(allScenarios);
  expect(Number.isInteger(read.seed)).toBe(true);
});

it("a run of less than three minutes has half of the scenarios", () => {
  expect(readArguments(["--minutes", "2.5"]).chosen).toEqual(halfOfTheScenarios);
  expect(readArguments(["--minutes", "10", "--seed", "0"])).toMatchObject({ minutes: 10, seed: 0 });
});

it("a broker that is asked for has every store and mode, however short the run", () => {
  const { chosen } = readArguments(["--minutes", "1", "--broker", "bullmq"]);
  expect(chosen).toHaveLength(12);
  expect(new Set(chosen.map(({ broker }) => broker))).toEqual(new Set(["bullmq"]));
});

it("stores, modes and brokers narrow the run together", () => {
  const narrow = ["--store", "redis", "--store", "sqlite", "--mode", "wrapClaiming", "--broker", "rabbitmq"];
  expect(readArguments(narrow).chosen.map(nameOf)).toEqual([
    "rabbitmq/sqlite/wrapClaiming",
    "rabbitmq/redis/wrapClaiming",
  ]);
  // The plan is made for the whole run, so that it stays what it is.
  expect(readArguments(narrow).scenarios).toEqual(allScenarios);
});

it.each([
  [["--minutes", "0"], '--minutes must be a number from 1 to 600, got "0".'],
  [["--minutes", "soon"], 'got "soon"'],
  [["--minutes", "-3"], "'--minutes'"],
  [["--seed", "1.5"], '--seed must be a whole number from 0 to 4294967295, got "1.5".'],
  [["--seed", "4294967296"], 'got "4294967296"'],
  [["--store", "mongodb"], "--store must be one of memory, sqlite, redis, redis-cluster, postgres"],
  [["--mode", "wrapBatch"], '--mode must be one of wrap, wrapClaiming, wrapTransactional, got "wrapBatch".'],
  [["--broker", "kafka"], "--broker must be one of bullmq, rabbitmq"],
  [["--break", "politely"], "--break must be one of forgetful, generous"],
  [["--store", "redis", "--mode", "wrapTransactional"], "There is no such scenario"],
  [["--fast"], "Unknown option '--fast'"],
  [["redis"], "Unexpected argument 'redis'"],
])("what nobody can mean is refused, with the value and the way out: %j", (args, message) => {
  expect(() => readArguments(args)).toThrow(UsageError);
  expect(() => readArguments(args)).toThrow(message);
});
