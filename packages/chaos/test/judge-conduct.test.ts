import { expect, it } from "vitest";
import { judge } from "../src/judge/judge.ts";
import { cutShort, effectsOf, killOf, leaseMs, ran, scene } from "./scene.ts";

it("nothing explains a double of a transaction", () => {
  const deliveries = [cutShort("w1.1", 1, 0), ran("w2.1", 1, leaseMs * 3, leaseMs * 3 + 50)];
  const evidence = scene({ mode: "wrapTransactional", deliveries, ...killOf("w1.1", 30) });
  expect(judge(evidence).faults).toEqual([
    "m had its effect twice without a reason: w2.1#1 ran it although w1.1#1 had",
  ]);
});

it("a delivery that was told done, and whose effect is not in the ledger, fails the run", () => {
  const evidence = scene({ mode: "wrapTransactional", deliveries: [ran("w1.1", 1, 0, 50)], effects: [] });
  expect(judge(evidence).faults).toEqual([
    "m was lost",
    "m was told done to w1.1#1, and its effect is not there",
  ]);
});

it("a transaction that was told to have failed, and was committed, fails the run, unless the outcome was told to be unknown", () => {
  const failed = (code: string) => {
    const delivery = { ...cutShort("w1.1", 1, 0), threw: [90, code] as const };
    return judge(scene({ mode: "wrapTransactional", deliveries: [delivery] })).faults;
  };
  expect(failed("BQ_STORE_TIMEOUT")).toEqual([
    "m was committed by w1.1#1, which was told that it failed: BQ_STORE_TIMEOUT",
  ]);
  expect(failed("BQ_COMMIT_UNKNOWN")).toEqual([]);
});

it("an effect that no worker knows of, or of a message that was never sent, fails the run", () => {
  const deliveries = [ran("w1.1", 1, 0, 50)];
  const [effect] = effectsOf(deliveries);
  const withEffect = (changes: object) =>
    judge(scene({ mode: "wrap", deliveries, effects: effect ? [effect, { ...effect, ...changes }] : [] }))
      .faults;
  expect(withEffect({ id: "x" })).toEqual(["x had an effect and was never sent"]);
  expect(withEffect({ delivery: 2 })).toContain("m had an effect of which w1.1#2 knows nothing");
});

it("a worker that crashed, hung or left an error that nobody caught fails the run, and so does disorder at the end", () => {
  const deliveries = [ran("w1.1", 1, 0, 50)];
  const unhandled = { type: "unhandled", worker: "w1.1", atMs: 60, error: "Error: boom" } as const;
  const evidence = scene({
    mode: "wrap",
    deliveries,
    further: [unhandled],
    disorder: ["3 messages were left"],
  });
  const ends = [
    { name: "w1.1", how: "crashed" as const, atMs: 61, lastWords: "Segmentation fault" },
    { name: "w2.1", how: "hung" as const, atMs: 90 },
  ];
  expect(judge({ ...evidence, ends }).faults).toEqual([
    "w1.1 ended by itself: Segmentation fault",
    "w2.1 did not stop when it was told to",
    "w1.1 had an error that nobody caught: Error: boom",
    "3 messages were left",
  ]);
});

it("a heap that keeps growing after the warm-up fails the run; one that goes up and down does not", () => {
  const mebibytes = (sizes: readonly number[]) => {
    const further = sizes.map((size, second) => ({
      type: "alive" as const,
      worker: "w1.1",
      atMs: second * 1_000,
      inFlight: 0,
      heapBytes: size * 2 ** 20,
    }));
    return judge(scene({ mode: "wrap", deliveries: [ran("w1.1", 1, 0, 50)], further })).faults;
  };
  expect(mebibytes([10, 30, 40, 41, 60, 41, 42, 80, 42, 43])).toEqual([]);
  expect(mebibytes([10, 30, 40, 41, 45, 50, 55, 60, 65, 70])).toEqual(["w1.1: its heap grew by 14 MiB"]);
});

it("a line that a kill cut short is left out", async () => {
  const { readHistory } = await import("../src/judge/history.ts");
  const whole = `${JSON.stringify({ atMs: 1, type: "received", delivery: 1, id: "m" })}\n`;
  const { deliveries } = readHistory("w1.1", `${whole}{"atMs":2,"type":"rec`);
  expect([...deliveries.keys()]).toEqual([1]);
});
