/** What each figure may be at most: bytes, or milliseconds for an import. A change that needs more says so here. */
export const budgets: Readonly<Record<string, number>> = {
  "core, everything, gzipped": 7_700,
  "core, wrap alone, gzipped": 3_200,
  "core, wrapClaiming alone, gzipped": 4_800,
  "redis, without core and driver, gzipped": 9_500,
  "postgres, without core and driver, gzipped": 13_500,
  "sqlite, without core and driver, gzipped": 8_500,

  "core, installed": 490_000,
  "core and redis, installed": 770_000,
  "core and postgres, installed": 1_050_000,
  "core and sqlite, installed": 790_000,

  // Of the fastest process, and wide: a busy machine takes many times as long as an idle one.
  "core, import": 400,
  "redis, import with its driver": 2_000,
  "postgres, import with its driver": 2_000,
  "sqlite, import with its driver": 2_000,
};
