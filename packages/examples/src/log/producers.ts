import type { ProducerLanguage } from "@bq/idempotency-core";

/** Writes JSON the way the standard encoder of a producer's language does: the same message, other bytes. */
export function writeLike(lang: ProducerLanguage, message: unknown): string {
  const compact = JSON.stringify(message);
  switch (lang) {
    case "php":
      return escapeBeyondAscii(compact.replaceAll("/", "\\/"));
    case "python":
      return escapeBeyondAscii(spaced(message));
    case "dotnet":
      return escapeBeyondAscii(escapeMarkup(compact)).replace(/\\u[0-9a-f]{4}/g, upperCaseHex);
    case "go":
      return escapeMarkup(compact);
    case "java":
    case "node":
      return compact;
  }
}

/** A space after each comma and colon, as Python's `json.dumps` has it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}: ${spaced(member)}`,
    );
    return `{${members.join(", ")}}`;
  }
  return JSON.stringify(value);
}

function escapeBeyondAscii(json: string): string {
  return json.replace(/[\u0080-\uffff]/g, escapeUnit);
}

/** What Go and .NET escape so that JSON may stand in a web page. */
function escapeMarkup(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function upperCaseHex(escaped: string): string {
  return `\\u${escaped.slice(2).toUpperCase()}`;
}
