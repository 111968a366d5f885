import { quoteId, StoreError, type StoreErrorCode, show, toStoreError } from "@bq/idempotency-core/backend";
import { isReply } from "./client.ts";

interface Refusal {
  /** How the server's error begins or, where a script wraps it, what it contains. */
  readonly sign: RegExp;
  /** What is so, and the way out. */
  readonly advice: string;
  readonly code?: StoreErrorCode;
  /** Would the server refuse any other command as well? */
  readonly concernsAll?: true;
}

const refusals: readonly Refusal[] = [
  {
    sign: /^WRONGTYPE/,
    advice:
      "the key holds another type of value, so it belongs to another program. Choose a prefix that nobody else uses",
    code: "BQ_STORE_SCHEMA",
  },
  {
    sign: /^OOM|OOM command not allowed/,
    advice:
      "the server has reached maxmemory and takes no more marks, though it still answers reads. Raise maxmemory, or give marks a ttlMs",
  },
  {
    sign: /^NOPERM|ACL failure/,
    advice:
      "the user lacks a right. It needs +getex +set +del +eval +evalsha on the keys of the prefix; +get +type +pttl +pexpire for the scripts",
  },
  {
    sign: /^READONLY/,
    advice:
      "this server is a replica. Connect to the primary, or through Sentinel or a cluster client, which follow a failover",
    concernsAll: true,
  },
  {
    sign: /^LOADING/,
    advice: "the server is still loading its data. Try again when it is ready",
    concernsAll: true,
  },
  {
    sign: /^MASTERDOWN/,
    advice: "this replica has lost its primary. Connect to a primary",
    concernsAll: true,
  },
  {
    sign: /^CLUSTERDOWN|CLUSTERDOWN/,
    advice: "the cluster does not serve this slot. Bring its primary back",
    concernsAll: true,
  },
  {
    sign: /^(MOVED|ASK) /,
    advice:
      "this server is one node of a cluster. Give the store a cluster client, or connect with a list of nodes",
  },
  {
    sign: /^CROSSSLOT/,
    advice: "this server is a cluster behind one address. Connect with a list of its nodes",
  },
  {
    sign: /^MISCONF/,
    advice: "the server cannot save its data and refuses writes. Mend its disk, or the rights on its folder",
    concernsAll: true,
  },
  {
    sign: /^NOREPLICAS/,
    advice: "too few replicas are in reach for min-replicas-to-write. Bring them back",
    concernsAll: true,
  },
  {
    sign: /^(NOAUTH|WRONGPASS)/,
    advice: "user name or password are missing or wrong. Correct the credentials",
    concernsAll: true,
  },
  {
    sign: /^BUSY /,
    advice: "the server is held up by somebody's script. SCRIPT KILL ends it",
    concernsAll: true,
  },
  {
    sign: /unknown command|syntax error/i,
    advice: "the server does not know the command. The store needs Redis 7.0 or Valkey 7.2, or newer",
  },
];

function refusalIn(error: Error): Refusal | undefined {
  return refusals.find(({ sign }) => sign.test(error.message));
}

/** Is the server in a state in which it refuses whatever it is asked, so that asking for less does not help? */
export function concernsAll(error: Error): boolean {
  return refusalIn(error)?.concernsAll === true;
}

/** Makes a `StoreError` of what the client threw; where the server refused, it says why and what to do. */
export function explain(error: unknown, operation: string, id: string | undefined): StoreError {
  if (!isReply(error)) return toStoreError(error, operation, id);
  const refusal = refusalIn(error);
  if (!refusal) return toStoreError(error, operation, id);
  return new StoreError(
    `Redis refused ${operation}${id === undefined ? "" : ` of ${quoteId(id)}`}: ${refusal.advice}. The server said: ${error.message}`,
    { operation, id, code: refusal.code ?? "BQ_STORE_FAILED", cause: error },
  );
}

/** The key holds a value that is neither a mark nor a claim: what it means would be a guess. */
export function unknownValue(value: unknown, operation: string, id: string): StoreError {
  return new StoreError(
    `The key of ${quoteId(id)} holds ${show(value)}, which is neither a mark nor a claim of this version. Another program, or a newer version, writes keys of this prefix: give each its own.`,
    { operation, id, code: "BQ_STORE_SCHEMA" },
  );
}
