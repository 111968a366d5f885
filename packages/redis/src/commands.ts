import { createHash } from "node:crypto";

/** A command of Redis: its name and what follows. */
export type Command = readonly [name: string, ...args: string[]];

/** A script, as it is kept in the server's script cache. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

/** A call of a script, which Redis runs as one command. */
export interface ScriptCall {
  readonly script: Script;
  readonly operands: readonly string[];
}

export type Request = Command | ScriptCall;

/** The value of a mark; the Go store writes the same. */
export const mark = "1";

/** What the value of a claim starts with; its token follows. */
export const claimPrefix = "claim:";

export function claimValue(token: string): string {
  return claimPrefix + token;
}

export function isClaimValue(value: string): boolean {
  return value.startsWith(claimPrefix);
}

/**
 * Reads one value. Plain GET would also be answered by a replica, which may not know the newest marks, and by a primary that was
 * demoted without the client's notice. GETEX without options changes nothing, but only a primary accepts it.
 */
export function read(key: string): Command {
  return ["getex", key];
}

/** Reads many values, from a primary alone, in the order of the keys. MGET would also take a key of another type for an absent one. */
export function readMany(keys: readonly string[]): ScriptCall {
  return call(readManyScript, keys);
}

const readManyScript = script(`
local values = {}
for i, key in ipairs(KEYS) do
  values[i] = redis.call('GETEX', key)
end
return values
`);

/** Writes the mark over whatever string is there, and answers what was there. GET also makes it refuse a key of another type. */
export function write(key: string, ttlMs: number | undefined): Command {
  return ttlMs === undefined ? ["set", key, mark, "GET"] : ["set", key, mark, "PX", String(ttlMs), "GET"];
}

/** Writes all marks, or none: the types are checked first, and a script that began to write is never stopped for want of memory. */
export function writeMany(keys: readonly string[], ttlMs: number | undefined): ScriptCall {
  return call(writeManyScript, keys, ttlMs === undefined ? [mark] : [mark, "PX", String(ttlMs)]);
}

const writeManyScript = script(`
for _, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  if kind ~= 'string' and kind ~= 'none' then
    return redis.error_reply('WRONGTYPE Key ' .. key .. ' holds a ' .. kind)
  end
end
for _, key in ipairs(KEYS) do
  redis.call('SET', key, unpack(ARGV))
end
return 'OK'
`);

export function drop(key: string): Command {
  return ["del", key];
}

/** Takes the claim if there is no value; otherwise answers the value and the milliseconds it has left. */
export function takeClaim(key: string, token: string, leaseMs: number): ScriptCall {
  return call(takeClaimScript, [key], [claimValue(token), String(leaseMs)]);
}

// SET … NX GET would say who holds the claim, but not for how much longer: that takes a second command.
const takeClaimScript = script(`
local value = redis.call('GET', KEYS[1])
if value then
  return { value, redis.call('PTTL', KEYS[1]) }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false
`);

/** Starts the lease of our claim anew; answers 1, or 0 when the claim is not ours. */
export function renewClaim(key: string, token: string, leaseMs: number): ScriptCall {
  return call(renewClaimScript, [key], [claimValue(token), String(leaseMs)]);
}

const renewClaimScript = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
`);

/** Drops our claim; answers 1, or 0 when the claim is not ours. */
export function dropClaim(key: string, token: string): ScriptCall {
  return call(dropClaimScript, [key], [claimValue(token)]);
}

const dropClaimScript = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
`);

export function script(lua: string): Script {
  return { lua, sha: createHash("sha1").update(lua).digest("hex") };
}

export function call(script: Script, keys: readonly string[], args: readonly string[] = []): ScriptCall {
  return { script, operands: [String(keys.length), ...keys, ...args] };
}
