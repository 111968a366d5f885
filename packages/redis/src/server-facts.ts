import { isReply, type RedisClient } from "./client.ts";

/** What a server tells of itself; a name that it does not tell is absent. */
export interface ServerFacts {
  /** Fields of INFO, such as `redis_version`; `undefined` when INFO is forbidden. */
  readonly info: ReadonlyMap<string, string> | undefined;
  /** Fields of CONFIG, such as `appendfsync`; `undefined` when CONFIG is forbidden, as on most managed servers. */
  readonly config: ReadonlyMap<string, string> | undefined;
  /** May our user run scripts? */
  readonly scriptsAllowed: boolean;
}

/** Asks one server. A right that is missing is a fact; any other failure is thrown. */
export async function readServer(node: RedisClient): Promise<ServerFacts> {
  const [info, config, script] = await Promise.all([
    unlessRefused(node.call("info", [])),
    unlessRefused(node.call("config", ["GET", "*"])),
    unlessRefused(node.call("eval", ["return 'yes'", "0"])),
  ]);
  return {
    info: typeof info === "string" ? infoFields(info) : undefined,
    config: config === undefined ? undefined : configFields(config),
    scriptsAllowed: script !== undefined,
  };
}

async function unlessRefused(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (
      isReply(error) &&
      /NOPERM|unknown command|unknown subcommand|not allowed|disabled/i.test(error.message)
    ) {
      return undefined;
    }
    throw error;
  }
}

function infoFields(info: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of info.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}

/** A flat list of names and values, or an object where the client maps the replies of RESP3. */
function configFields(config: unknown): Map<string, string> {
  if (!Array.isArray(config)) {
    return new Map(Object.entries(config as object).map(([name, value]) => [name, String(value)]));
  }
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < config.length; i += 2) fields.set(String(config[i]), String(config[i + 1]));
  return fields;
}
