import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestLineBytes, type MalformedLine, readLog } from "../src/demo/read-log.ts";

interface Reading {
  readonly messages: { line: number; message: object }[];
  readonly malformed: MalformedLine[];
  readonly endBytes: number[];
}

async function read(...chunks: (string | Uint8Array)[]): Promise<Reading> {
  const reading: Reading = { messages: [], malformed: [], endBytes: [] };
  async function* source() {
    for (const chunk of chunks) yield Buffer.from(chunk as string);
  }
  for await (const { line, message, endByte } of readLog(source(), (bad) => reading.malformed.push(bad))) {
    reading.messages.push({ line, message });
    reading.endBytes.push(endByte);
  }
  return reading;
}

const bom = "\ufeff";

describe("readLog", () => {
  it("takes a byte order mark, CR LF, blank lines and a missing last line break", async () => {
    const { messages, malformed } = await read(`${bom}{"n":1}\r\n\r\n  \n{"n":2}`);
    expect(malformed).toEqual([]);
    expect(messages).toEqual([
      { line: 1, message: { n: 1 } },
      { line: 4, message: { n: 2 } },
    ]);
  });

  it("takes a byte order mark at the beginning only", async () => {
    const { messages, malformed } = await read(`{}\n${bom}{}\n`);
    expect(messages.map(({ line }) => line)).toEqual([1]);
    expect(malformed).toMatchObject([{ line: 2, reason: expect.stringMatching(/^not JSON/) }]);
  });

  it("does not end a line at U+2028, U+2029 or U+0085", async () => {
    const text = "a\u2028b\u2029c\u0085d";
    const { messages } = await read(`${JSON.stringify({ text })}\n`);
    expect(messages).toEqual([{ line: 1, message: { text } }]);
  });

  it.each([
    ["1", "not a JSON object, but a number"],
    ["null", "not a JSON object, but null"],
    ["true", "not a JSON object, but a boolean"],
    ['"{}"', "not a JSON object, but a string"],
    ["[{}]", "not a JSON object, but an array"],
  ])("tells what %s is", async (line, reason) => {
    expect(await read(`{}\n${line}\n{}\n`)).toMatchObject({
      messages: [{ line: 1 }, { line: 3 }],
      malformed: [{ line: 2, reason }],
    });
  });

  it("reports bytes that are no UTF-8 instead of replacing them", async () => {
    const { messages, malformed } = await read('{"id":"', Uint8Array.of(0xc3, 0x28), '"}\n{}\n');
    expect(malformed).toEqual([{ line: 1, reason: "not UTF-8" }]);
    expect(messages).toEqual([{ line: 2, message: {} }]);
  });

  it("escapes in a reason what a terminal would obey", async () => {
    const { malformed } = await read('{"a":\x1b[31m\u009b1m\u202e\n');
    expect(malformed[0]?.reason).not.toMatch(/[^\P{C}]/u);
  });

  it("passes over a line that is too long and goes on behind it", async () => {
    const piece = Buffer.alloc(1_024 * 1_024, "x");
    const pieces = Array.from({ length: longestLineBytes / piece.length + 1 }, () => piece);
    const { messages, malformed } = await read("{}\n", ...pieces, "\n{}\n");
    expect(malformed).toEqual([{ line: 2, reason: "longer than 16 MiB" }]);
    expect(messages.map(({ line }) => line)).toEqual([1, 3]);
  });

  it("takes a line of several megabytes", async () => {
    const text = "é".repeat(3_000_000);
    const { messages } = await read(JSON.stringify({ text }));
    expect(messages).toEqual([{ line: 1, message: { text } }]);
  });

  it("survives JSON that is nested a hundred thousand times", async () => {
    const { malformed } = await read(`${'{"a":'.repeat(100_000)}\n`);
    expect(malformed).toMatchObject([{ line: 1, reason: expect.stringMatching(/^not JSON/) }]);
  });

  it("reads the same from any chunks, and counts its bytes", async () => {
    const line = fc.oneof(
      fc.json(),
      fc.object().map((value) => JSON.stringify(value)),
      fc.string({ unit: "binary" }).map((text) => text.replaceAll(/[\n\r]/g, "")),
      fc.constant(""),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line),
        fc.array(fc.nat(400)),
        fc.constantFrom("\n", "\r\n"),
        async (lines, cuts, end) => {
          const bytes = Buffer.from(lines.join(end));
          const edges = [
            0,
            ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((x, y) => x - y),
            bytes.length,
          ];
          const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
          const whole = await read(bytes);
          expect(await read(...chunks)).toEqual(whole);
          const isObject = (text: string) => {
            try {
              return JSON.parse(text)?.constructor === Object || /^\s*\{/.test(text);
            } catch {
              return false;
            }
          };
          const numbers = lines.flatMap((text, index) =>
            isObject(Buffer.from(text).toString()) ? [index + 1] : [],
          );
          expect(whole.messages.map(({ line }) => line)).toEqual(numbers);
          for (const endByte of whole.endBytes) expect(endByte).toBeLessThanOrEqual(bytes.length);
        },
      ),
    );
  }, 60_000);
});
