import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const program = fileURLToPath(new URL("../src/demo/demo.ts", import.meta.url));

export interface DemoOptions {
  readonly stdin?: string | Uint8Array;
  /** A module that is loaded before the demo, and before its workers. */
  readonly preload?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface DemoResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the demo as a user would, on the sources. */
export function startDemo(args: readonly string[], options: DemoOptions = {}): ChildProcess {
  const preload = options.preload === undefined ? [] : ["--import", options.preload];
  const env = { ...process.env, ...options.env };
  const child = spawn(process.execPath, ["--conditions=@bq/source", ...preload, program, ...args], { env });
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin ?? "");
  return child;
}

/** Runs the demo to its end. */
export async function runDemo(args: readonly string[], options?: DemoOptions): Promise<DemoResult> {
  const child = startDemo(args, options);
  const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  child.stdout?.on("data", (chunk: Buffer) => printed.stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => printed.stderr.push(chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return {
    code,
    stdout: Buffer.concat(printed.stdout).toString(),
    stderr: Buffer.concat(printed.stderr).toString(),
  };
}

/** A folder that is gone when the test is over. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "bq-examples-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a log of its own for a test; answers its path. */
export function writeLog(content: string | Uint8Array): string {
  const path = join(temporaryFolder(), "own.jsonl");
  writeFileSync(path, content);
  return path;
}

/** The figures of a row of the report's table. */
export interface Row {
  readonly before: number;
  readonly after: number;
  readonly total: number;
}

export function row({ stdout }: DemoResult, title: string): Row {
  const found = new RegExp(`^ *${title} +((?:\\d[\\d ]*\\d|\\d)(?: {2,}|$).*)$`, "m").exec(stdout);
  const [before = Number.NaN, after = Number.NaN, total = Number.NaN] = (found?.[1] ?? "")
    .split(/ {2,}/)
    .map(figure);
  return { before, after, total };
}

/** Effects of one message → how many messages had as many. */
export function histogram({ stdout }: DemoResult): Record<string, number> {
  const lines = stdout.matchAll(/^ {2}(\d+) effects? +([\d ]*\d) messages?/gm);
  return Object.fromEntries([...lines].map(([, effects, messages = ""]) => [effects, figure(messages)]));
}

/**
 * As `histogram`, but a message that the kill met between its effect and its mark counts as one with a single effect: that is the
 * gap of `wrap`, it may happen in any run, and the report must name the message.
 */
export function histogramBesideTheGap(demo: DemoResult): Record<string, number> {
  const { 1: once = 0, 2: twice = 0, ...others } = histogram(demo);
  if (twice > 1 || demo.stdout.includes("had two effects") !== (twice === 1)) return histogram(demo);
  return once + twice > 0 ? { ...others, 1: once + twice } : others;
}

export function marks({ stdout }: DemoResult): { atKill: number; atEnd: number } {
  const found = /Marks in the store: ([\d ]+) at the kill, ([\d ]+) at the end/.exec(stdout);
  return { atKill: figure(found?.[1] ?? "?"), atEnd: figure(found?.[2] ?? "?") };
}

function figure(text: string): number {
  return Number(text.replaceAll(" ", ""));
}
