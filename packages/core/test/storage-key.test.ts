import fc from "fast-check";
import { expect, it } from "vitest";
import { storageKey } from "../src/index.ts";

const hashed = /^sha256:[\w-]{43}$/;

it("an id that every backend can store is its own key", () => {
  for (const id of [
    "a",
    " a ",
    "é",
    "😀",
    "__proto__",
    "x".repeat(255),
    "é".repeat(127),
    "SHA256:x",
    "a\nb",
    "\u0001",
  ]) {
    expect(storageKey(id)).toBe(id);
  }
});

it("an id that some backend cannot store has a hash for a key", () => {
  for (const id of [
    "a\0b",
    "\0",
    "\ud800",
    "a\udc00",
    "\udc00\ud800",
    "x".repeat(256),
    "é".repeat(128),
    "sha256:",
    "sha256:abc",
  ]) {
    expect(storageKey(id)).toMatch(hashed);
  }
});

it("the hash is SHA-256 over UTF-16LE, in base64url", () => {
  // printf 'a\0\0\0b\0' | openssl dgst -sha256 -binary | base64 | tr '+/' '-_'
  expect(storageKey("a\0b")).toBe("sha256:0GwT2AaDarMBGxeDdrIydkacQRwcGZ7I-_06SlsrleM");
});

it("a key is its own key only if it is no hash, so that no id can name another's hash", () => {
  const key = storageKey("\0");
  expect(storageKey(key)).not.toBe(key);
});

it("distinct ids have distinct keys, and every key can be stored by every backend", () => {
  const id = fc.oneof(
    fc.string({ minLength: 1, unit: "binary" }),
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 6 })
      .map((units) => String.fromCharCode(...units)),
    fc.constantFrom(
      "\ud800",
      "\udbff",
      "\udc00",
      "\ufffd",
      "\0",
      "sha256:",
      "x".repeat(255),
      "x".repeat(256),
    ),
  );
  fc.assert(
    fc.property(id, id, (a, b) => {
      expect(storageKey(a) === storageKey(b)).toBe(a === b);
      const key = storageKey(a);
      expect(Buffer.byteLength(key)).toBeLessThanOrEqual(255);
      expect(key).not.toContain("\0");
      expect(Buffer.from(key).toString()).toBe(key);
    }),
    { numRuns: 5_000 },
  );
});

it("an unusable id is a TypeError that shows it", () => {
  for (const id of ["", undefined, null, 7, {}, [], Symbol("x")])
    expect(() => storageKey(id as string)).toThrow(TypeError);
  expect(() => storageKey("")).toThrow('got ""');
});
