import { expect, it } from "vitest";
import { isIdempotencyError, isStoreError } from "../src/index.ts";

const coded = (code: unknown) => Object.assign(new Error("elsewhere"), { code });

it("an error of another copy of the package is recognised by its code", () => {
  for (const code of ["BQ_CLAIM_PARKED", "BQ_CLAIM_LOST"]) {
    expect([isIdempotencyError(coded(code)), isStoreError(coded(code))]).toEqual([true, false]);
  }
  for (const code of [
    "BQ_STORE_FAILED",
    "BQ_STORE_TIMEOUT",
    "BQ_STORE_CLOSED",
    "BQ_STORE_SCHEMA",
    "BQ_COMMIT_UNKNOWN",
  ]) {
    expect([isIdempotencyError(coded(code)), isStoreError(coded(code))]).toEqual([true, true]);
  }
});

it("an error whose code only begins like ours is somebody else's", () => {
  for (const code of [
    "BQ_",
    "BQ_STORE_",
    "BQ_STORE_FULL",
    "BQ_COMMIT_",
    "BQ_CLAIM_",
    "BQ_BROKER_DOWN",
    7,
    null,
  ]) {
    expect([isIdempotencyError(coded(code)), isStoreError(coded(code))]).toEqual([false, false]);
  }
  for (const name of ["__proto__", "constructor", "toString"]) {
    expect(isIdempotencyError(coded(name))).toBe(false);
  }
});

it("what is no error at all is none of ours, whatever it does when it is looked at", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const throwing = Object.defineProperty(new Error("x"), "code", {
    get() {
      throw new Error("getter");
    },
  });
  for (const value of [undefined, null, "BQ_STORE_FAILED", { code: "BQ_STORE_FAILED" }, proxy, throwing]) {
    expect([isIdempotencyError(value), isStoreError(value)]).toEqual([false, false]);
  }
});
