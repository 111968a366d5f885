/** What the keys of marks and claims in Redis start with. */
export const keyPrefix = "chaos:";

/** The key of an id; those of the harness are short and plain, so that they are stored as they are. */
export function keyOf(id: string): string {
  return keyPrefix + id;
}
