/** How long every mark lives that is given a time to live, in milliseconds: a day. */
export const ttlMs = 86_400_000;
