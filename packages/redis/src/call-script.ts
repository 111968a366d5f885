import type { Answer, Call } from "./call.ts";
import { call, claimPrefix, claimValue, mark, type ScriptCall, script } from "./commands.ts";

/** What a call is named in the script. */
const letters: Readonly<Record<Call["operation"], string>> = {
  seen: "s",
  remember: "w",
  forget: "f",
  claim: "c",
  renew: "n",
  commit: "d",
  release: "r",
};

/** Does all calls in one script, one after another in their order, each as its own command would. */
export function requestOfAll(calls: readonly Call[], ttlMs: number | undefined): ScriptCall {
  let order = "";
  const keys: string[] = [];
  const args: string[] = ["", ttlMs === undefined ? "" : String(ttlMs)];
  for (const one of calls) {
    order += letters[one.operation];
    keys.push(one.key);
    if ("claim" in one) args.push(claimValue(one.claim.token));
    if ("leaseMs" in one) args.push(String(one.leaseMs));
  }
  args[0] = order;
  return call(callScript, keys, args);
}

/** One answer for each call. `undefined`: nothing was done, and the reason is to be learnt by asking alone. */
export function answersOfAll(reply: unknown): (Answer | undefined)[] {
  return String(reply)
    .split(" ")
    .map((word) => (word === "?" ? undefined : word));
}

// Every command is called so that its error is this key's alone. All answers are one string, which costs the client less than
// a list of them. The first line has the server refuse the script when it is out of memory; without it nothing would be
// refused any more after the first GETEX, which counts as a write.
// ARGV: a letter per key, the TTL or nothing, then the claim and the lease of the calls that have one.
const callScript = script(`#!lua
local ttl = ARGV[2]
local last = 2
local function operand()
  last = last + 1
  return ARGV[last]
end
local function mark(key)
  if ttl == '' then
    return redis.pcall('SET', key, '${mark}', 'GET')
  end
  return redis.pcall('SET', key, '${mark}', 'PX', ttl, 'GET')
end
local function is_claim(value)
  return type(value) == 'string' and string.sub(value, 1, ${claimPrefix.length}) == '${claimPrefix}'
end
local function yes_if_done(reply)
  if type(reply) == 'table' and reply.err then
    return '?'
  end
  return reply == 0 and 'no' or 'yes'
end
local function if_ours(key, claim, command, ...)
  local value = redis.pcall('GET', key)
  if value == claim then
    return yes_if_done(redis.pcall(command, key, ...))
  end
  return type(value) == 'table' and '?' or 'no'
end
local perform = {
  s = function(key)
    local value = redis.pcall('GETEX', key)
    if value == '${mark}' then
      return 'yes'
    end
    return (value == false or is_claim(value)) and 'no' or '?'
  end,
  w = function(key)
    return yes_if_done(mark(key))
  end,
  f = function(key)
    return type(redis.pcall('DEL', key)) == 'number' and 'yes' or '?'
  end,
  c = function(key)
    local claim = operand()
    local lease = operand()
    local value = redis.pcall('GET', key)
    if value == false then
      return yes_if_done(redis.pcall('SET', key, claim, 'PX', lease)) == 'yes' and 'ours' or '?'
    end
    if value == claim then
      return 'ours'
    end
    if value == '${mark}' then
      return 'mark'
    end
    local left = is_claim(value) and redis.pcall('PTTL', key)
    return type(left) == 'number' and left >= 0 and left or '?'
  end,
  n = function(key)
    local claim = operand()
    return if_ours(key, claim, 'PEXPIRE', operand())
  end,
  d = function(key)
    local claim = operand()
    local value = mark(key)
    if value == claim then
      return 'ours'
    end
    if value == '${mark}' then
      return 'mark'
    end
    return type(value) == 'table' and '?' or 'other'
  end,
  r = function(key)
    return if_ours(key, operand(), 'DEL')
  end,
}
local answers = {}
for i, key in ipairs(KEYS) do
  answers[i] = perform[string.sub(ARGV[1], i, i)](key)
end
return table.concat(answers, ' ')
`);
