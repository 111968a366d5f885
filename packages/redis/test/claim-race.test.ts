import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { afterAll, expect, it } from "vitest";
import { freshPrefix, sharedNodes, sharedUrl } from "./support/servers.ts";
import type { Go } from "./workers/claimer.ts";

const processes = 8;
const rounds = 1_000;
/** All processes begin these rounds on one word of the parent, and claim each id within the same moment. */
const roundsAtATime = 20;

const targets = { "a single server": sharedUrl, "a cluster": sharedNodes };
const claimers = await startClaimers();

async function startClaimers(): Promise<ChildProcess[]> {
  const worker = new URL("workers/claimer.ts", import.meta.url);
  const args = [freshPrefix(), JSON.stringify(targets)];
  const children = Array.from({ length: processes }, () =>
    fork(worker, args, { execArgv: ["--conditions=@bq/source"] }),
  );
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
  });
  await Promise.all(children.map((child) => once(child, "message")));
  return children;
}

async function ask(claimer: ChildProcess, go: Go): Promise<string[]> {
  const answered = once(claimer, "message");
  claimer.send(go);
  return (await answered)[0];
}

it.each(Object.keys(targets))(
  "of 8 processes that claim one id, exactly one gets it, in each of 1 000 rounds, on %s",
  async (target) => {
    const expected = ["claimed", ...Array(processes - 1).fill("in-flight")];
    for (let from = 0; from < rounds; from += roundsAtATime) {
      const answers = await Promise.all(
        claimers.map((claimer) => ask(claimer, { target, from, count: roundsAtATime })),
      );
      for (let i = 0; i < roundsAtATime; i++) {
        expect(answers.map((statuses) => statuses[i]).sort(), `round ${from + i}`).toEqual(expected);
      }
    }
  },
);
