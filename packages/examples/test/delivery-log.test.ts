import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { shippedLog } from "../src/demo/log-source.ts";
import { generateLog, shippedSeed } from "../src/log/generate.ts";
import { readLines, takeCensus } from "./log-census.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("the delivery log", () => {
  const lines = readLines(shippedLog);
  const census = takeCensus(lines);
  const messages = new Map(lines.map((line) => [line.meta.created_at, line]));

  it("is what the generator makes of its seed, byte for byte", () => {
    expect(readFileSync(shippedLog).equals(Buffer.from(generateLog(shippedSeed)))).toBe(true);
  });

  it("is the same for the same seed and another for another", () => {
    expect(generateLog(7)).toBe(generateLog(7));
    expect(generateLog(7)).not.toBe(generateLog(8));
  });

  it("holds at least 5 000 deliveries of 1 000 messages in at most 2 MB", () => {
    expect(messages.size).toBe(1_000);
    expect(lines.length).toBeGreaterThanOrEqual(5_000);
    expect(readFileSync(shippedLog).length).toBeLessThanOrEqual(2_000_000);
  });

  it("holds envelopes: every required field, in its form", () => {
    const languages = ["php", "go", "python", "java", "dotnet", "node"];
    const isCount = (value: number) => Number.isSafeInteger(value) && value >= 0;
    const faulty = lines.filter(
      ({ job, trace_id, data, meta, attempts }) =>
        !(
          /^urn:babel:[a-z.:]+$/.test(job) &&
          uuid.test(trace_id) &&
          typeof data === "object" &&
          typeof meta.queue === "string" &&
          meta.queue !== "" &&
          languages.includes(meta.lang) &&
          meta.schema_version === 1 &&
          isCount(meta.created_at) &&
          isCount(attempts) &&
          (typeof meta.id !== "string" || meta.id === "" || uuid.test(meta.id))
        ),
    );
    expect(faulty).toEqual([]);
  });

  it("has one id for one message: a redelivery differs in its attempts only", () => {
    const bodies = new Map<unknown, string>();
    const changed: unknown[] = [];
    for (const { attempts: _, ...body } of lines) {
      if (typeof body.meta.id !== "string" || body.meta.id === "") continue;
      const text = JSON.stringify(body);
      if ((bodies.get(body.meta.id) ?? text) !== text) changed.push(body.meta.id);
      bodies.set(body.meta.id, text);
    }
    expect(changed).toEqual([]);
    expect(bodies.size).toBe(census.ids.size);
  });

  it("has messages without an id, of several kinds", () => {
    const kinds = new Set(lines.filter(({ meta }) => !meta.id).map(({ meta }) => String(meta.id)));
    expect(kinds).toEqual(new Set(["undefined", "", "null"]));
    expect(lines.some(({ meta }) => typeof meta.id === "number")).toBe(true);
    expect(census.ids.size).toBeLessThan(1_000);
  });

  it("has messages that always throw, and messages that throw first and then succeed", () => {
    const late = lines.filter(({ data }) => typeof data.throws === "number").map(({ meta }) => meta.id);
    const never = [...census.ids].filter((id) => !census.succeeding.has(id));
    expect(never.length).toBeGreaterThanOrEqual(5);
    expect(new Set(late).size).toBeGreaterThanOrEqual(20);
    for (const id of late) if (typeof id === "string" && id !== "") expect(census.succeeding).toContain(id);
  });

  it("has storms: messages that are delivered again and again, mixed with others", () => {
    const counts = new Map<number, number>();
    for (const { meta } of lines) counts.set(meta.created_at, (counts.get(meta.created_at) ?? 0) + 1);
    expect([...counts.values()].filter((count) => count >= 8).length).toBeGreaterThanOrEqual(300);
  });

  it("comes from producers of every language, in their own way of writing JSON", () => {
    const raw = readFileSync(shippedLog, "utf8");
    expect(new Set(lines.map(({ meta }) => meta.lang)).size).toBe(6);
    expect(raw).toContain("\\/"); // PHP
    expect(raw).toContain('{"job": "'); // Python
    expect(raw).toContain("\\u003cb\\u003e"); // Go
    expect(raw).toContain("\\u00E9"); // .NET
    expect(raw).toContain("東京 🗼"); // Java and Node
    expect(raw).toContain("\\ud83d"); // half of a surrogate pair
  });
});
