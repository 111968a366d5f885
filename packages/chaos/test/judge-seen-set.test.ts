import { expect, it } from "vitest";
import type { Evidence } from "../src/judge/evidence.ts";
import { judge } from "../src/judge/judge.ts";
import { cutShort, killOf, ran, scene } from "./scene.ts";

/** The rules that explain the doubles, or `undefined` in place of one that nothing explains. */
function rules(evidence: Evidence): (string | undefined)[] {
  return judge(evidence).doubled.flatMap(({ pairs }) => pairs.map(({ cause }) => cause?.rule));
}

it("one effect of one message is what is wanted", () => {
  const verdict = judge(scene({ mode: "wrap", deliveries: [ran("w1.1", 1, 0, 50)] }));
  expect(verdict).toMatchObject({
    messages: 1,
    deliveries: 1,
    effects: 1,
    lost: [],
    doubled: [],
    faults: [],
  });
});

it("a message without an effect is lost, and fails the run", () => {
  const evidence = scene({ mode: "wrap", deliveries: [ran("w1.1", 1, 0, 50)], sent: ["m", "n"] });
  expect(judge(evidence)).toMatchObject({ lost: ["n"], faults: ["n was lost"] });
});

it("two deliveries that overlapped explain a double", () => {
  const deliveries = [ran("w1.1", 1, 0, 50), ran("w2.1", 1, 49, 90)];
  expect(rules(scene({ mode: "wrap", deliveries }))).toEqual(["overlap"]);
});

it("one that asked after the mark was there explains nothing", () => {
  const evidence = scene({ mode: "wrap", deliveries: [ran("w1.1", 1, 0, 50), ran("w2.1", 1, 51, 90)] });
  expect(rules(evidence)).toEqual([undefined]);
  expect(judge(evidence).faults).toEqual([
    "m had its effect twice without a reason: w2.1#1 ran it although w1.1#1 had",
  ]);
});

it("a kill between effect and mark explains a double, if the harness did it", () => {
  const deliveries = [cutShort("w1.1", 1, 0), ran("w2.1", 1, 4_000, 4_050)];
  expect(rules(scene({ mode: "wrap", deliveries, ...killOf("w1.1", 30) }))).toEqual(["killed"]);
  expect(rules(scene({ mode: "wrap", deliveries }))).toEqual([undefined]);
  // One that ended by itself was not killed.
  const { faults } = killOf("w1.1", 30);
  const ends = [{ name: "w1.1", how: "crashed" as const, atMs: 35 }];
  expect(rules(scene({ mode: "wrap", deliveries, faults, ends }))).toEqual([undefined]);
});

it("a kill after the wrapper had returned explains nothing: the mark was there", () => {
  const deliveries = [ran("w1.1", 1, 0, 50), ran("w2.1", 1, 4_000, 4_050)];
  expect(rules(scene({ mode: "wrap", deliveries, ...killOf("w1.1", 60) }))).toEqual([undefined]);
});

it("a mark that failed explains a double, if the store was out of order", () => {
  const first = { ...ran("w1.1", 1, 0, 5_000), events: [[4_990, "mark-failed"] as const] };
  const deliveries = [first, ran("w2.1", 1, 6_000, 6_050)];
  const cut = { kind: "store-cut", fromMs: 900, untilMs: 1_200 } as const;
  expect(rules(scene({ mode: "wrap", deliveries, faults: [cut] }))).toEqual(["mark-failed"]);
  expect(rules(scene({ mode: "wrap", deliveries }))).toEqual([undefined]);
  // Long mended, or not yet begun, or something else that failed.
  const other = [
    { ...cut, fromMs: -9_000, untilMs: -8_000 },
    { ...cut, fromMs: 5_500, untilMs: 5_600 },
    { ...cut, kind: "broker-cut" as const },
  ];
  expect(rules(scene({ mode: "wrap", deliveries, faults: other }))).toEqual([undefined]);
});

it("of three effects, each pair needs a cause of its own", () => {
  const deliveries = [ran("w1.1", 1, 0, 50), ran("w2.1", 1, 40, 90), ran("w3.1", 1, 200, 250)];
  expect(rules(scene({ mode: "wrap", deliveries }))).toEqual(["overlap", undefined, undefined]);
});

it("the same delivery twice in the ledger is never explained", () => {
  const once = ran("w1.1", 1, 0, 50);
  const evidence = scene({ mode: "wrap", deliveries: [once] });
  expect(rules({ ...evidence, effects: [...evidence.effects, ...evidence.effects] })).toEqual([undefined]);
});
