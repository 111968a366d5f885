import { expect, it, vi } from "vitest";
import { leaseMs, makePlan } from "../src/plan/plan.ts";
import { isWorkerFault } from "../src/plan/planned-fault.ts";
import { steps } from "../src/plan/steps.ts";
import { allScenarios, halfOfTheScenarios, modes, nameOf, stores } from "../src/scenarios.ts";

vi.setConfig({ testTimeout: 60_000 });

const terms = { seed: 7, minutes: 3, scenarios: allScenarios };

it("the same seed makes the same plan, and another one another plan", () => {
  const [plan, again] = [makePlan(terms), makePlan(terms)];
  expect(JSON.stringify(again)).toBe(JSON.stringify(plan));
  const other = makePlan({ ...terms, seed: 8 });
  for (const [index, { messages, faults }] of plan.entries()) {
    expect(other[index]?.messages[0]?.id).not.toBe(messages[0]?.id);
    expect(other[index]?.faults).not.toEqual(faults);
  }
});

it("a scenario that is run alone is planned as in the whole run", () => {
  const whole = makePlan(terms);
  for (const [index, scenario] of allScenarios.entries()) {
    const alone = makePlan({ ...terms, chosen: [scenario] });
    expect(JSON.stringify(alone)).toBe(JSON.stringify([whole[index]]));
  }
});

it("a run of three minutes sends 10 000 messages, over every store in every mode that it has, on both brokers", () => {
  const plans = makePlan(terms);
  const messages = plans.reduce((sum, plan) => sum + plan.messages.length, 0);
  expect(messages).toBeGreaterThanOrEqual(10_000);
  expect(messages).toBeLessThan(10_100);
  expect(new Set(plans.flatMap((plan) => plan.messages.map(({ id }) => id))).size).toBe(messages);
  expect(plans.map(({ name }) => name)).toEqual(allScenarios.map(nameOf));
  expect(allScenarios).toHaveLength(24);
});

it("a shorter run has every store and mode once, and uses both brokers", () => {
  const pairs = (scenarios: typeof allScenarios) =>
    new Set(scenarios.map(({ store, mode }) => `${store} ${mode}`));
  expect(pairs(halfOfTheScenarios)).toEqual(pairs(allScenarios));
  expect(halfOfTheScenarios).toHaveLength(12);
  expect(new Set(halfOfTheScenarios.map(({ store }) => store))).toEqual(new Set(stores));
  expect(new Set(halfOfTheScenarios.map(({ mode }) => mode))).toEqual(new Set(modes));
  expect(new Set(halfOfTheScenarios.map(({ broker }) => broker)).size).toBe(2);
});

it("a longer run sends more and injects more", () => {
  const [short] = makePlan(terms);
  const [long] = makePlan({ ...terms, minutes: 12 });
  expect(long?.messages.length).toBeGreaterThan((short?.messages.length ?? 0) * 3);
  expect(long?.faults.length).toBeGreaterThan((short?.faults.length ?? 0) * 2);
});

it("workers are killed at every step and anywhere, and suspended for longer than the lease", () => {
  for (const { scenario, faults, workers } of makePlan(terms)) {
    const onWorkers = faults.filter(isWorkerFault);
    const killedAt = new Set(onWorkers.filter(({ kind }) => kind === "kill").map(({ step }) => step));
    // The process that holds the store in its memory is only suspended.
    expect(killedAt).toEqual(new Set(scenario.store === "memory" ? [] : [...steps, "anywhere"]));
    const suspended = onWorkers.filter((fault) => fault.kind === "suspend");
    expect(suspended.length).toBeGreaterThan(0);
    for (const { forMs } of suspended) expect(forMs).toBeGreaterThan(leaseMs);
    expect(workers).toBe(scenario.store === "memory" ? 1 : 8);
  }
});

it("between them, the scenarios see every fault of a store and of a broker", () => {
  for (const run of [terms, { ...terms, minutes: 1, scenarios: halfOfTheScenarios }]) {
    const kinds = new Set(makePlan(run).flatMap(({ faults }) => faults.map(({ kind }) => kind)));
    expect([...kinds].sort()).toEqual([
      "broker-cut",
      "broker-restart",
      "kill",
      "store-black-hole",
      "store-cut",
      "store-failover",
      "store-kill",
      "store-lock",
      "store-restart",
      "suspend",
    ]);
  }
});

it("a cluster fails over once, for there is no second replica", () => {
  for (const { scenario, faults } of [...makePlan(terms), ...makePlan({ ...terms, minutes: 1 })]) {
    const failovers = faults.filter(({ kind }) => kind === "store-failover");
    expect(failovers).toHaveLength(scenario.store === "redis-cluster" ? 1 : 0);
  }
});

it("clocks are wrong only where nothing but the store could care", () => {
  for (const { scenario, workerClocks } of makePlan({ ...terms, seed: 1 })) {
    const judgedByWorkers = scenario.broker === "bullmq" || scenario.store === "sqlite";
    if (judgedByWorkers) expect(workerClocks.every((clock) => clock === "")).toBe(true);
  }
  const clocks = makePlan(terms).flatMap(({ workerClocks, storeClock }) => [...workerClocks, storeClock]);
  expect(clocks).toContain("+1d");
  expect(clocks).toContain("-1d");
});

it("every message is sent within the window, its copies in order", () => {
  const [plan] = makePlan(terms);
  const sent = plan?.messages ?? [];
  for (const { copiesAtMs } of sent) {
    expect(copiesAtMs[0]).toBeLessThan(plan?.windowMs ?? 0);
    expect(copiesAtMs).toEqual(copiesAtMs.toSorted((a, b) => a - b));
  }
  expect(sent.filter(({ copiesAtMs }) => copiesAtMs.length > 1).length).toBeGreaterThan(sent.length / 5);
});
