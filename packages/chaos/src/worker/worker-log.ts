import { openSync, writeSync } from "node:fs";
import { nowMs } from "../clock.ts";
import type { LogLine } from "./log-line.ts";

/** A line without its time, which the log adds. */
export type Note = LogLine extends infer Line ? (Line extends LogLine ? Omit<Line, "atMs"> : never) : never;

/**
 * The worker's diary, a file that only grows. Each line is with the operating system before the worker goes on, so a SIGKILL
 * takes none back.
 */
export class WorkerLog {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, "a");
  }

  write(note: Note): void {
    writeSync(this.#file, this.#line(note));
  }

  /** Writes the line, and tells it to the harness at once, also when the worker is about to block. */
  tell(note: Note): void {
    const line = this.#line(note);
    writeSync(this.#file, line);
    writeSync(process.stdout.fd, line);
  }

  #line(note: Note): string {
    return `${JSON.stringify({ atMs: nowMs(), ...note })}\n`;
  }
}
