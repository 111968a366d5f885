import { spawn } from "node:child_process";

/** How a program ended. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  /** What it wrote to both streams, in order. */
  readonly output: string;
}

export interface RunOptions {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Is an exit code other than 0 the caller's business? Default `false`: it is an error. */
  readonly mayFail?: boolean;
  /** The longest that the program, with what it starts, may take, in milliseconds. Default: 20 minutes. */
  readonly limitMs?: number;
}

/**
 * Runs a program to its end.
 *
 * @throws Error with its output, when it fails and may not, or takes too long
 */
export function run(program: string, args: readonly string[], options: RunOptions): Promise<Outcome> {
  const { folder, env, mayFail = false, limitMs = 1_200_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, so that a compiler which an installation started ends with it.
      detached: true,
    });
    const end = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    };
    process.once("exit", end);
    let stdout = "";
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const limit = setTimeout(end, limitMs);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      process.off("exit", end);
      if (code === 0 || (mayFail && code !== null)) resolve({ code, stdout, output });
      else reject(new Error(`${[program, ...args].join(" ")} ended with ${signal ?? code}:\n${output}`));
    });
  });
}
