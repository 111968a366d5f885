import type { Finding, Severity } from "@bq/idempotency-core";
import { keyPrefixOf, type RedisClient } from "./client.ts";
import type { Settings } from "./options.ts";
import { readServer, type ServerFacts } from "./server-facts.ts";

/** A cluster client, as far as it leads to its nodes. */
interface Nodes {
  nodes(role: "master"): RedisClient[];
}

/** What an operator should know or mend: about the server, or about each primary of the cluster. */
export async function checkServers(client: RedisClient, settings: Settings): Promise<Finding[]> {
  const nodes = client.isCluster ? (client as unknown as Nodes).nodes("master") : [client];
  const perNode = await Promise.all(
    nodes.map(async (node) => {
      const facts = await readServer(node);
      const { host, port } = node.options as { host?: string; port?: number };
      const where = client.isCluster ? `${host}:${port}: ` : "";
      const found = [wrongClient(client, facts), ...findingsOf(facts, settings)];
      return found
        .filter((one) => one !== undefined)
        .map((finding) => ({
          ...finding,
          message: where + finding.message,
        }));
    }),
  );
  return [...clientFindings(client), ...perNode.flat()];
}

/** A node of a cluster behind a client for one server refuses the ids of all other nodes. */
function wrongClient(client: RedisClient, { info }: ServerFacts): Finding | undefined {
  if (client.isCluster || info?.get("cluster_enabled") !== "1") return undefined;
  return finding(
    "error",
    "cluster-client",
    "This server is a node of a cluster, and a client for one server reaches only its part of the ids: connect with a list of nodes.",
  );
}

function clientFindings(client: RedisClient): Finding[] {
  const keyPrefix = keyPrefixOf(client);
  if (keyPrefix === "") return [];
  return [
    finding(
      "info",
      "key-prefix",
      `The client puts ${JSON.stringify(keyPrefix)} before every key, so only clients with the same keyPrefix share these marks.`,
    ),
  ];
}

function findingsOf(facts: ServerFacts, settings: Settings): (Finding | undefined)[] {
  return [
    version(facts),
    role(facts),
    scripts(facts),
    eviction(facts, settings),
    persistence(facts),
    failingDisk(facts),
    replication(facts),
    hidden(facts),
  ];
}

function version({ info }: ServerFacts): Finding | undefined {
  const valkey = info?.get("valkey_version");
  const [name, got, least] = valkey
    ? (["Valkey", valkey, [7, 2]] as const)
    : (["Redis", info?.get("redis_version"), [7, 0]] as const);
  if (got === undefined) return undefined;
  const [major = 0, minor = 0] = got.split(".").map(Number);
  if (major > least[0] || (major === least[0] && minor >= least[1])) return undefined;
  return finding(
    "error",
    "server-version",
    `${name} ${got} is older than ${least.join(".")}, the oldest version that the store supports: upgrade it.`,
  );
}

function role({ info }: ServerFacts): Finding | undefined {
  if (info?.get("role") !== "slave") return undefined;
  return finding(
    "error",
    "replica",
    "This server is a replica, which takes no marks: connect to the primary, or through Sentinel or a cluster client.",
  );
}

function scripts({ scriptsAllowed }: ServerFacts): Finding | undefined {
  if (scriptsAllowed) return undefined;
  return finding(
    "error",
    "scripts-forbidden",
    "The user may not run scripts, so claims and batches fail: grant it +eval and +evalsha.",
  );
}

function eviction({ info }: ServerFacts, { ttlMs }: Settings): Finding | undefined {
  const policy = info?.get("maxmemory_policy") ?? "noeviction";
  if (policy === "noeviction") return undefined;
  const limited = info?.get("maxmemory") !== "0";
  const evictsMarks = policy.startsWith("allkeys-") || ttlMs !== undefined;
  const what = evictsMarks ? "marks and claims" : "claims";
  return finding(
    limited && evictsMarks ? "error" : "warning",
    "maxmemory-policy",
    limited
      ? `With maxmemory-policy ${policy} the server drops ${what} when memory runs short, and a redelivery runs again: set it to noeviction.`
      : `With maxmemory-policy ${policy} the server would drop ${what} once maxmemory is set: set it to noeviction.`,
  );
}

function persistence({ info, config }: ServerFacts): Finding | undefined {
  if (info === undefined) return undefined;
  const aof = info.get("aof_enabled") === "1";
  if (!aof) {
    const snapshots = config?.get("save");
    if (snapshots === undefined) {
      return finding(
        "warning",
        "persistence",
        "The append-only file is off, so a crash loses the marks since the last snapshot, or all if there is none: set appendonly yes.",
      );
    }
    return snapshots === ""
      ? finding(
          "error",
          "persistence",
          "Nothing is written to disk, so a restart forgets every mark: set appendonly yes.",
        )
      : finding(
          "warning",
          "persistence",
          "Only snapshots are written to disk, so a crash loses the marks since the last one: set appendonly yes.",
        );
  }
  switch (config?.get("appendfsync")) {
    case "everysec":
      return finding(
        "info",
        "appendfsync",
        "With appendfsync everysec a crash of the machine loses about a second of marks: appendfsync always keeps them, at the price of a disk flush per write.",
      );
    case "no":
      return finding(
        "warning",
        "appendfsync",
        "With appendfsync no a crash of the machine loses the marks that the system had not yet written, often 30 seconds of them: set everysec or always.",
      );
    default:
      return undefined;
  }
}

function failingDisk({ info }: ServerFacts): Finding | undefined {
  const failing = ["rdb_last_bgsave_status", "aof_last_write_status", "aof_last_bgrewrite_status"].filter(
    (name) => (info?.get(name) ?? "ok") !== "ok",
  );
  if (failing.length === 0) return undefined;
  return finding(
    "error",
    "persistence-failing",
    `The server failed to write to disk (${failing.join(", ")}) and may soon refuse marks: look for a full disk or missing rights.`,
  );
}

function replication({ info, config }: ServerFacts): Finding | undefined {
  if (!Number(info?.get("connected_slaves") ?? 0)) return undefined;
  const least = Number(config?.get("min-replicas-to-write") ?? 0);
  return finding(
    "info",
    "replication",
    `Replication is asynchronous, so a failover may lose the newest marks${least > 0 ? "" : "; min-replicas-to-write 1 at least stops a primary that has lost its replicas"}.`,
  );
}

function hidden({ info, config }: ServerFacts): Finding | undefined {
  const names = [info ? undefined : "INFO", config ? undefined : "CONFIG"].filter(Boolean).join(" and ");
  if (names === "") return undefined;
  return finding(
    "info",
    "hidden-settings",
    `The server does not show its settings (${names} is forbidden), so eviction and persistence could not be checked in full: look them up with whoever runs it.`,
  );
}

function finding(severity: Severity, code: string, message: string): Finding {
  return Object.freeze({ severity, code, message });
}
