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
  /** The longest that the program may take, in milliseconds. Default: ten minutes. */
  readonly limitMs?: number;
}

/**
 * Runs a program to its end.
 *
 * @throws Error with its output, when it fails and may not, or takes too long
 */
export function run(program: string, args: readonly string[], options: RunOptions): Promise<Outcome> {
  const { folder, env, mayFail = false, limitMs = 600_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const limit = setTimeout(() => child.kill("SIGKILL"), limitMs);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      if (code === 0 || (mayFail && code !== null)) resolve({ code, stdout, output });
      else reject(new Error(`${[program, ...args].join(" ")} ended with ${signal ?? code}:\n${output}`));
    });
  });
}
