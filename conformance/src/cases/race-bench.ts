import type { Awaitable, ClaimingStore, ClaimResult } from "@bq/idempotency-core";
import type { Bench } from "../bench.ts";
import { longLeaseMs } from "./definition.ts";

/** How often a race is run in one case. */
export const rounds = 20;

export type Handles = [ClaimingStore, ClaimingStore, ...ClaimingStore[]];

export async function openHandles(bench: Bench, count: 2 | 4): Promise<Handles> {
  const handles: Handles = [await bench.openClaiming(), await bench.openClaiming()];
  while (handles.length < count) handles.push(await bench.openClaiming());
  return handles;
}

/** Claims one id twice on every handle at the same time. */
export function claimAtOnce(handles: Handles, id: string): Promise<ClaimResult[]> {
  return Promise.all([...handles, ...handles].map(async (store) => store.claim(id, longLeaseMs)));
}

/** Starts both at the same time, in odd rounds the second before the first. */
export function eitherFirst<A, B>(
  round: number,
  first: () => Awaitable<A>,
  second: () => Awaitable<B>,
): Promise<[A, B]> {
  // Started inside an async function, so that what one of them throws leaves no promise of the other alone.
  const start = async <T>(call: () => Awaitable<T>) => call();
  if (round % 2 === 0) return Promise.all([start(first), start(second)]);
  const ahead = start(second);
  return Promise.all([start(first), ahead]);
}
