/** A message as it travels through the broker. */
export interface ChaosMessage {
  readonly meta: { readonly id: string };
  /** How long the handler works before its effect, in milliseconds. */
  readonly workMs: number;
  /** The handler throws on the first attempt. */
  readonly failsFirst: boolean;
}
