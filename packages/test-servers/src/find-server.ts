import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { installByApt } from "./apt.ts";
import { onPath } from "./on-path.ts";

const execute = promisify(execFile);

/** A server that is not an npm package, and where it can come from. */
export interface ServerSource {
  readonly title: string;
  /** Names of the program, in the order of preference. */
  readonly programs: readonly [string, ...string[]];
  readonly aptPackage: string;
  readonly image: string;
  /** Of the test run's environment: a server to use instead; absent where there is none. */
  readonly givenBy?: string;
}

/** The program on this machine, or the Docker client with the image to run. */
export type FoundServer =
  | { readonly program: string; readonly image?: undefined }
  | { readonly program: string; readonly image: string };

const found = new Map<ServerSource, Promise<FoundServer>>();

/**
 * Finds the server on the PATH, else installs it with apt where that is possible, else runs it with Docker.
 * @throws Error that names what to install: a server that cannot be had fails the tests.
 */
export function findServer(source: ServerSource): Promise<FoundServer> {
  const server = found.get(source) ?? search(source);
  found.set(source, server);
  return server;
}

async function search(source: ServerSource): Promise<FoundServer> {
  const program = onPath(...source.programs) ?? (await installed(source));
  if (program !== undefined) return { program };
  const docker = onPath("docker");
  if (docker !== undefined && (await answers(docker))) return { program: docker, image: source.image };
  throw new Error(missing(source));
}

async function answers(docker: string): Promise<boolean> {
  return execute(docker, ["version", "--format", "{{.Server.Version}}"], { timeout: 20_000 }).then(
    () => true,
    () => false,
  );
}

/** Installs the package where we may, and gives the program; `undefined` where we may not. */
async function installed({ programs, aptPackage }: ServerSource): Promise<string | undefined> {
  await installByApt(aptPackage);
  return onPath(...programs);
}

function missing({ title, programs, aptPackage, givenBy }: ServerSource): string {
  const ways = [
    `put ${programs.join(" or ")} on the PATH (Debian, Ubuntu: apt-get install ${aptPackage}; macOS: brew install ${aptPackage.replace("-server", "")})`,
    "start Docker",
  ];
  if (givenBy !== undefined) ways.push(`set ${givenBy} to the URL of a server`);
  return `The tests need ${title}, and found neither ${programs.join(" nor ")} nor a way to install it. Either ${ways.join(", or ")}.`;
}
