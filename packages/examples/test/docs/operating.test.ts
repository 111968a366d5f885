import { afterAll, expect, it } from "vitest";
import { DocsProject } from "./docs-project.ts";

const page = "docs/operating.md";
const project = new DocsProject([page]);
afterAll(() => project[Symbol.dispose]());

/** What the blocks leave to their reader is global here, and they run one after another. */
const scene = `
import { SqliteStore } from "@bq/idempotency-sqlite";

const store = await SqliteStore.connect("marks.db", { ttlMs: 3_600_000 });
const charge = async () => console.log("charged");
Object.assign(globalThis, { store, charge, idsToReplay: ["a", "b"] });
await store.rememberMany(["a", "b", "c"]);
await store.seenMany(["a", "b", "c"]);

for (const block of [1, 2, 3, 4]) await import("./block-" + block + ".ts");

const seen = store.seenMany(["a", "b", "c"]);
console.log(seen.join());
await store.close();
console.log(process.exitCode);
`;

it("what the page on operating shows runs: no finding, nothing to purge, and two ids are forgotten", () => {
  expect(project.tryOut(page, scene)).toBe("purged 0 rows\nfalse,false,true\nundefined\n");
}, 120_000);
