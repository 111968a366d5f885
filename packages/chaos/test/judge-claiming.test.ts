import slotOf from "cluster-key-slot";
import { expect, it } from "vitest";
import type { InjectedFault, Takeover } from "../src/faults/fault-log.ts";
import type { Evidence } from "../src/judge/evidence.ts";
import { judge } from "../src/judge/judge.ts";
import { cutShort, killOf, leaseMs, ran, scene } from "./scene.ts";

function rules(evidence: Evidence): (string | undefined)[] {
  return judge(evidence).doubled.flatMap(({ pairs }) => pairs.map(({ cause }) => cause?.rule));
}

it("two deliveries that overlapped explain nothing: one of them should have been parked", () => {
  const deliveries = [ran("w1.1", 1, 0, 50), ran("w2.1", 1, 20, 70)];
  expect(rules(scene({ mode: "wrapClaiming", deliveries }))).toEqual([undefined]);
});

it("a killed worker explains a double only after its lease", () => {
  const later = (asking: number) => [cutShort("w1.1", 1, 0), ran("w2.1", 1, asking, asking + 50)];
  const after = scene({ mode: "wrapClaiming", deliveries: later(leaseMs), ...killOf("w1.1", 30) });
  expect(rules(after)).toEqual(["killed"]);
  const before = scene({ mode: "wrapClaiming", deliveries: later(leaseMs - 100), ...killOf("w1.1", 30) });
  expect(rules(before)).toEqual([undefined]);
});

const stalled = { type: "stalled", worker: "w1.1", sinceMs: 15, atMs: 3_000 } as const;
const slow = { ...ran("w1.1", 1, 0, 3_060), effect: 3_020, events: [[3_050, "claim-lost"] as const] };

it("a worker that stood still and lost its claim explains a double", () => {
  const deliveries = [slow, ran("w2.1", 1, 1_600, 1_650)];
  expect(rules(scene({ mode: "wrapClaiming", deliveries, further: [stalled] }))).toEqual(["outlived-lease"]);
});

it("a claim that was lost for no reason explains nothing", () => {
  const deliveries = [slow, ran("w2.1", 1, 1_600, 1_650)];
  expect(rules(scene({ mode: "wrapClaiming", deliveries }))).toEqual([undefined]);
  const blackHole = { kind: "store-black-hole", fromMs: 400, untilMs: 2_000 } as const;
  expect(rules(scene({ mode: "wrapClaiming", deliveries, faults: [blackHole] }))).toEqual(["outlived-lease"]);
});

it("a worker that stood still and was not told of a loss explains nothing", () => {
  const deliveries = [{ ...slow, events: [] }, ran("w2.1", 1, 1_600, 1_650)];
  expect(rules(scene({ mode: "wrapClaiming", deliveries, further: [stalled] }))).toEqual([undefined]);
});

it("a lost claim is committed all the same, and whoever asks after that must be skipped", () => {
  const deliveries = [slow, ran("w2.1", 1, 3_100, 3_150)];
  expect(rules(scene({ mode: "wrapClaiming", deliveries, further: [stalled] }))).toEqual([undefined]);
});

it("who claimed first counts as the first, also if the other was done before", () => {
  // Suspended between the answer of the store and the handler.
  const deliveries = [{ ...slow, handling: 3_010 }, ran("w2.1", 1, 1_600, 1_650)];
  expect(rules(scene({ mode: "wrapClaiming", deliveries, further: [stalled] }))).toEqual(["outlived-lease"]);
});

const slot = slotOf("chaos:m");
function failover(known: Partial<Takeover>): InjectedFault {
  const nothing = { marks: new Set<string>(), claims: new Set<string>() };
  const takeover = { atMs: 1_000, slots: [slot, slot] as const, ...nothing, ...known };
  return { kind: "store-failover", fromMs: 600, untilMs: 1_100, takeover };
}

it("a mark that the replica did not have explains a double, in either mode", () => {
  const deliveries = [ran("w1.1", 1, 900, 950), ran("w2.1", 1, 5_000, 5_050)];
  for (const mode of ["wrap", "wrapClaiming"] as const) {
    const after = (fault: InjectedFault) =>
      rules(scene({ mode, store: "redis-cluster", deliveries, faults: [fault] }));
    expect(after(failover({}))).toEqual(["failover"]);
    expect(after(failover({ marks: new Set(["m"]) }))).toEqual([undefined]);
    // Another master's, or a mark that the new one took.
    expect(after(failover({ slots: [slot + 1, slot + 1] }))).toEqual([undefined]);
    expect(after(failover({ atMs: 940 }))).toEqual([undefined]);
  }
});

it("a claim that the replica did not have explains a double while its holder was at work", () => {
  const deliveries = [ran("w1.1", 1, 900, 2_000), ran("w2.1", 1, 1_300, 1_350)];
  const after = (fault: InjectedFault, of = deliveries) =>
    rules(scene({ mode: "wrapClaiming", store: "redis-cluster", deliveries: of, faults: [fault] }));
  expect(after(failover({}))).toEqual(["failover"]);
  expect(after(failover({ claims: new Set(["m"]) }))).toEqual([undefined]);
  expect(after(failover({}), [ran("w1.1", 1, 900, 2_000), ran("w2.1", 1, 2_100, 2_150)])).toEqual([
    undefined,
  ]);
});
