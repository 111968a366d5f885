import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import type { ClusterNode } from "../src/index.ts";
import { freshPrefix, sharedCluster, sharedRedis } from "./support/servers.ts";

const processes = 8;
const rounds = 1_000;
/** All processes begin these rounds on one word of the parent, and claim each id within the same moment. */
const roundsAtATime = 20;

const url = await sharedRedis();
const { nodes } = await sharedCluster();

async function startClaimer(target: string | readonly ClusterNode[], prefix: string): Promise<ChildProcess> {
  const child = fork(new URL("workers/claimer.ts", import.meta.url), [JSON.stringify([target, prefix])], {
    execArgv: ["--conditions=@bq/source"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [answer] = await once(child, "message");
  expect(answer).toBe("ready");
  return child;
}

it.each([
  ["a single server", url],
  ["a cluster", nodes],
])(
  "of 8 processes that claim one id, exactly one gets it, in each of 1 000 rounds, on %s",
  async (_, target) => {
    const prefix = freshPrefix();
    const claimers = await Promise.all(Array.from({ length: processes }, () => startClaimer(target, prefix)));
    for (let from = 0; from < rounds; from += roundsAtATime) {
      const answers = await Promise.all(
        claimers.map(async (claimer) => {
          const answered = once(claimer, "message");
          claimer.send({ from, count: roundsAtATime });
          return (await answered)[0] as string[];
        }),
      );
      for (let i = 0; i < roundsAtATime; i++) {
        expect(answers.map((statuses) => statuses[i]).sort(), `round ${from + i}`).toEqual([
          "claimed",
          ...Array(processes - 1).fill("in-flight"),
        ]);
      }
    }
  },
);
