import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type FoundServer, findServer, type ServerSource } from "./find-server.ts";
import { freePort, onFreePort } from "./free-port.ts";
import { ServerProcess } from "./server-process.ts";
import { serverStart } from "./server-start.ts";
import { watchdog } from "./watchdog.ts";

const RABBITMQ: ServerSource = {
  title: "RabbitMQ",
  programs: ["rabbitmq-server"],
  aptPackage: "rabbitmq-server",
  image: "rabbitmq:4",
};

const EPMD: ServerSource = {
  title: "epmd, Erlang's port mapper",
  programs: ["epmd"],
  aptPackage: "erlang-base",
  image: "rabbitmq:4",
};

const HOST = "127.0.0.1";

/**
 * A RabbitMQ server of the tests' own. It keeps durable queues and their persistent messages over `kill()` and `restart()`, but for a
 * queue that was declared in the moment before.
 */
export interface RabbitMqServer extends AsyncDisposable {
  /** Of the user `guest`, who may do everything. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Ends the server for good and removes its folder. */
  stop(): Promise<void>;
  /** SIGKILL; the folder stays for `restart()`. */
  kill(): Promise<void>;
  /** Starts the server again, on the same port and in the same folder; ends it first, by SIGKILL, if it runs. */
  restart(): Promise<void>;
  /** Freezes the server: connections stay open, nothing is answered. */
  pause(): Promise<void>;
  resume(): Promise<void>;
}

/** Starts a RabbitMQ server without plugins. @throws Error when there is none to be had; it names what to install. */
export async function startRabbitMq(): Promise<RabbitMqServer> {
  const found = withoutPackageWrapper(await findServer(RABBITMQ));
  const mapper = await startPortMapper();
  try {
    return await onFreePort(async (port) => {
      const folder = await watchdog().makeFolder("rabbitmq");
      writeFileSync(join(folder, "rabbitmq.conf"), "disk_free_limit.absolute = 1MB\n");
      const distributionPort = await freePort();
      const server = await ServerProcess.start(
        commandLine(found, folder, environment({ folder, port, distributionPort, mapperPort: mapper.port })),
      );
      return describe(server, mapper, port);
    });
  } catch (error) {
    await mapper.process.stop();
    throw error;
  }
}

interface PortMapper {
  readonly process: ServerProcess;
  readonly port: number;
}

/**
 * Starts epmd, which every Erlang node asks for. Erlang would start one by itself as a daemon, out of reach of the
 * watchdog, that outlives the server and everything else.
 */
async function startPortMapper(): Promise<PortMapper> {
  const found = await findServer(EPMD);
  return onFreePort(async (port) => {
    const folder = await watchdog().makeFolder("epmd");
    const args = ["-port", String(port), "-address", HOST, "-debug"];
    const process = await ServerProcess.start(
      serverStart(found, { name: "epmd", args, folder, readyPattern: "epmd running", endSignal: "SIGKILL" }),
    );
    return { process, port };
  });
}

/** Debian puts a script before the server that changes to the account of the service, its folders and its log files. */
function withoutPackageWrapper(found: FoundServer): FoundServer {
  const behind = join(dirname(found.program), "..", "lib", "rabbitmq", "bin", "rabbitmq-server");
  return found.image === undefined && existsSync(behind) ? { program: behind } : found;
}

function commandLine(found: FoundServer, folder: string, env: Record<string, string>) {
  // Nothing on its disk is needed once it ends for good, and an orderly end takes seconds.
  const common = { folder, readyPattern: "Server startup complete", endSignal: "SIGKILL" } as const;
  if (found.image === undefined)
    return serverStart(found, { ...common, name: "rabbitmq-server", args: [], env });
  // The environment of the Docker client does not reach the server.
  const pairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  return serverStart(found, { ...common, name: "env", args: [...pairs, "rabbitmq-server"] });
}

interface Places {
  readonly folder: string;
  readonly port: number;
  readonly distributionPort: number;
  readonly mapperPort: number;
}

function environment({ folder, port, distributionPort, mapperPort }: Places): Record<string, string> {
  return {
    // The cookie by which Erlang nodes trust each other is kept there.
    HOME: folder,
    ERL_EPMD_PORT: String(mapperPort),
    // No port mapper of its own; and schedulers that sleep when idle, instead of taking the processor from the tests.
    ERL_FLAGS: "-start_epmd false +sbwt none +sbwtdcpu none +sbwtdio none",
    RABBITMQ_NODENAME: `bq-test-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: HOST,
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_MNESIA_BASE: join(folder, "data"),
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_LOGS: "-",
    // Of the machine's own RabbitMQ nothing is read.
    RABBITMQ_CONF_ENV_FILE: join(folder, "rabbitmq-env.conf"),
    RABBITMQ_CONFIG_FILE: join(folder, "rabbitmq.conf"),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(folder, "advanced.config"),
    RABBITMQ_GENERATED_CONFIG_DIR: join(folder, "config"),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, "enabled_plugins"),
  };
}

function describe(server: ServerProcess, mapper: PortMapper, port: number): RabbitMqServer {
  const stop = async () => {
    await server.stop();
    await mapper.process.stop();
  };
  return {
    url: `amqp://guest:guest@${HOST}:${port}`,
    host: HOST,
    port,
    stop,
    kill: () => server.kill(),
    restart: () => server.restart(),
    pause: () => server.pause(),
    resume: () => server.resume(),
    [Symbol.asyncDispose]: stop,
  };
}
