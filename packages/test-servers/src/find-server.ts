import { execFile } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);
/** Another process may be installing as well; it is waited for this long. */
const INSTALL_LIMIT_MS = 300_000;

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

/** The first of the programs that the PATH leads to. Servers often live in sbin, which the PATH of a plain user lacks. */
function onPath(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const beside = folders
    .filter((folder) => /[\\/]bin$/.test(folder))
    .map((folder) => join(folder, "..", "sbin"));
  const candidates = names.flatMap((name) => [...folders, ...beside].map((folder) => join(folder, name)));
  return candidates.find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function answers(docker: string): Promise<boolean> {
  return execute(docker, ["version", "--format", "{{.Server.Version}}"], { timeout: 20_000 }).then(
    () => true,
    () => false,
  );
}

/** Installs the package where we may, on Debian as root, and gives the program; `undefined` where we may not. */
async function installed({ programs, aptPackage }: ServerSource): Promise<string | undefined> {
  const apt = onPath("apt-get");
  if (process.getuid?.() !== 0 || apt === undefined || !existsSync("/etc/debian_version")) return undefined;
  const end = Date.now() + INSTALL_LIMIT_MS;
  let failure: unknown;
  do {
    try {
      await aptGet(apt, "update");
      await aptGet(apt, "install", "-y", "--no-install-recommends", aptPackage);
      await stopService(aptPackage);
      return onPath(...programs);
    } catch (error) {
      failure = error;
      // Another test process is at it: `update` does not wait for its lock, as `install` does.
      if (!/could not get lock|unable to (acquire|lock)/i.test(String(error))) break;
      await delay(1_000);
    }
  } while (Date.now() < end);
  process.emitWarning(`apt-get could not install ${aptPackage}: ${String(failure)}`);
  return onPath(...programs);
}

async function aptGet(apt: string, ...args: string[]): Promise<void> {
  const lock = `DPkg::Lock::Timeout=${INSTALL_LIMIT_MS / 1_000}`;
  // RUNLEVEL: in single-user mode, Debian does not start a service that it has just installed.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C", RUNLEVEL: "1" };
  await execute(apt, ["-o", lock, "-q", ...args], { env, timeout: INSTALL_LIMIT_MS, maxBuffer: 2 ** 26 });
}

/** The tests start servers of their own; a service must not stay behind only because we needed its program. */
async function stopService(name: string): Promise<void> {
  const systemctl = existsSync("/run/systemd/system") ? onPath("systemctl") : undefined;
  if (systemctl !== undefined) await execute(systemctl, ["disable", "--now", name]).catch(() => {});
  else if (existsSync(`/etc/init.d/${name}`)) await execute(`/etc/init.d/${name}`, ["stop"]).catch(() => {});
}

function missing({ title, programs, aptPackage, givenBy }: ServerSource): string {
  const ways = [
    `put ${programs.join(" or ")} on the PATH (Debian, Ubuntu: apt-get install ${aptPackage}; macOS: brew install ${aptPackage.replace("-server", "")})`,
    "start Docker",
  ];
  if (givenBy !== undefined) ways.push(`set ${givenBy} to the URL of a server`);
  return `The tests need ${title}, and found neither ${programs.join(" nor ")} nor a way to install it. Either ${ways.join(", or ")}.`;
}
