import { randomBytes } from "node:crypto";
import type { FoundServer } from "./find-server.ts";
import type { ServerStart } from "./watchdog-messages.ts";

export interface CommandLine extends Omit<ServerStart, "program" | "container"> {
  /** The name of the program inside an image. */
  readonly name: string;
}

/** The start of a server as a program of this machine or, by Docker, with the same folder, user and ports. */
export function serverStart(found: FoundServer, { name, ...line }: CommandLine): ServerStart {
  if (found.image === undefined) return { program: found.program, ...line };
  const container = `bq-test-${name}-${randomBytes(6).toString("hex")}`;
  const { uid, gid } = line.user ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const docker = ["run", "--rm", "--name", container, "--network", "host", "--user", `${uid}:${gid}`];
  const inside = [
    "--volume",
    `${line.folder}:${line.folder}`,
    "--workdir",
    line.folder,
    "--entrypoint",
    name,
  ];
  return {
    ...line,
    program: found.program,
    container,
    user: undefined,
    args: [...docker, ...inside, found.image, ...line.args],
  };
}
