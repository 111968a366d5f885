import type { Run } from "./broker.ts";
import type { Effects } from "./ledger.ts";
import { addTallies, type Tally } from "./tally.ts";
import { showId, type Verdict } from "./verdict.ts";

export interface Findings {
  readonly logName: string;
  /** Lines of the log that are deliveries. */
  readonly deliveries: number;
  readonly run: Run;
  readonly effects: Effects;
  readonly verdict: Verdict;
  readonly durationMs: number;
}

/** Writes what happened, for a person, on one screen. */
export function writeReport(findings: Findings): string {
  const { logName, deliveries, run, effects, verdict, durationMs } = findings;
  const { before, after, again, done } = run.record;
  if (deliveries === 0) return `${logName} holds no deliveries.\n`;
  return [
    `${logName}: ${amount(deliveries, "delivery", "deliveries")}, ${amount(done.size, "id", "ids")}`,
    "",
    table(before, after),
    "",
    `The worker was killed (SIGKILL) with ${amount(before.unanswered, "delivery", "deliveries")} in its hands. Restarted, it got`,
    ...broughtAgain("not acknowledged", again.unacknowledged),
    ...broughtAgain("acknowledged before", again.acknowledged),
    `Marks in the store: ${number(run.marksAtKill)} at the kill, ${number(run.marksAtEnd)} at the end, after ${(durationMs / 1_000).toFixed(1)} s.`,
    "",
    "Effects per message, counted in the ledger that the handler writes:",
    ...[...verdict.histogram].map(([count, messages]) => bar(count, messages)),
    ...(effects.unidentified > 0
      ? [
          `Messages without an id cannot be told apart, so each delivery had its effect: ${number(effects.unidentified)}.`,
        ]
      : []),
    "",
    ...conclusion(verdict),
    "",
  ].join("\n");
}

const rows: readonly { readonly name: keyof Tally; readonly title: string; readonly meaning: string }[] = [
  { name: "deliveries", title: "deliveries", meaning: "" },
  { name: "ran", title: "  ran", meaning: "the handler had its effect" },
  { name: "skipped", title: "  skipped", meaning: "marked before" },
  { name: "unidentified", title: "  unidentified", meaning: "no id: the handler ran, unguarded" },
  { name: "failed", title: "  failed", meaning: "the handler threw" },
  { name: "unanswered", title: "  unanswered", meaning: "in flight when the worker was killed" },
];

function table(before: Tally, after: Tally): string {
  const total = addTallies(before, after);
  const head = `${"".padEnd(14)}${["before kill", "after kill", "total"].map((title) => title.padStart(13)).join("")}`;
  const body = rows.map(({ name, title, meaning }) => {
    const figures = [before[name], after[name], total[name]]
      .map((figure) => number(figure).padStart(13))
      .join("");
    return `${title.padEnd(14)}${figures}   ${meaning}`.trimEnd();
  });
  return [head, ...body].join("\n");
}

function broughtAgain(kind: string, tally: Tally): string[] {
  if (tally.deliveries === 0) return [];
  const outcomes = (["skipped", "ran", "unidentified", "failed"] as const)
    .filter((outcome) => tally[outcome] > 0)
    .map((outcome) => `${number(tally[outcome])} ${outcome}`);
  return [`  ${number(tally.deliveries).padStart(5)} ${kind.padEnd(19)}  → ${outcomes.join(", ")}`];
}

function bar(count: number, messages: number): string {
  const meaning = count === 0 ? "   the handler never succeeded" : "";
  return `  ${amount(count, "effect", "effects").padEnd(12)}${number(messages).padStart(9)} ${messages === 1 ? "message" : "messages"}${meaning}`;
}

function conclusion({ caughtInGap, faults }: Verdict): string[] {
  if (faults.length > 0) return ["This should not have happened:", ...faults.map((fault) => `  ${fault}`)];
  if (caughtInGap === undefined) {
    return [
      "Every message that the handler accepted had its effect exactly once, across redeliveries and the kill.",
    ];
  }
  return [
    `Message ${showId(caughtInGap)} had two effects: the kill fell between its effect and its mark.`,
    "This is the one gap of wrap; wrapTransactional closes it. Every other message had its effect exactly once.",
  ];
}

function amount(count: number, one: string, many: string): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** Thousands apart, in the same way whatever the machine's language. */
function number(figure: number): string {
  return String(figure).replace(/\B(?=(\d{3})+$)/g, " ");
}
