import { CorrectStore } from "./correct-store.ts";
import { type Mutant, mutant } from "./mutant.ts";

/** A store that changes ids on their way into the storage. */
function changesIds(does: string, key: (id: string) => string): Mutant {
  return mutant(
    does,
    "ids/distinct",
    class extends CorrectStore {
      override key(id: string): string {
        return key(id);
      }
    },
  );
}

const shorten = (id: string, length: number) => (id.length > length ? id.slice(0, length) : id);

/** Accepts whatever it is given. */
class AcceptsAnything extends CorrectStore {
  override requireId(): void {}
}

export const idMutants: readonly Mutant[] = [
  changesIds("trims ids", (id) => id.trim()),
  changesIds("drops trailing spaces", (id) => id.replace(/ +$/, "")),
  changesIds("drops a trailing line feed", (id) => id.replace(/\r?\n$/, "")),
  changesIds("drops a byte order mark", (id) => id.replace(/^\ufeff/, "")),
  changesIds("drops zero-width spaces", (id) => id.replaceAll("\u200b", "")),
  changesIds("folds case", (id) => id.toLowerCase()),
  changesIds("folds more than case", (id) => id.toUpperCase()),
  changesIds("normalises to NFC", (id) => id.normalize("NFC")),
  changesIds("normalises to NFKC", (id) => id.normalize("NFKC")),
  changesIds("ignores accents", (id) => id.normalize("NFD").replace(/\p{M}/gu, "")),
  changesIds("collapses lone surrogates", (id) => Buffer.from(id, "utf8").toString("utf8")),
  changesIds("cuts ids at U+0000", (id) => id.split("\0")[0] ?? id),
  changesIds("leaves control characters out", (id) => id.replaceAll(/\p{Cc}/gu, "")),
  changesIds("keeps the first 255 characters", (id) => shorten(id, 255)),
  changesIds("keeps the first 3 000 characters", (id) => shorten(id, 3_000)),
  changesIds("keeps the first 65 535 characters", (id) => shorten(id, 65_535)),
  changesIds("reads ids as numbers where it can", (id) => (id.trim() === "" ? id : String(Number(id) || id))),
  changesIds("strips hyphens", (id) => id.replaceAll("-", "")),
  changesIds("keeps only one byte of each character", (id) => Buffer.from(id, "latin1").toString("latin1")),
  changesIds("doubles quotes and never undoes it", (id) => id.replaceAll("''", "'")),
  changesIds("reads escape sequences", (id) => id.replaceAll("\\u0000", "\0").replaceAll("\\\\", "\\")),
  changesIds("resolves paths", (id) => id.replace(/^\.\.\//, "")),
  changesIds("takes a hash tag for the key", (id) => /\{(.+?)\}/.exec(id)?.[1] ?? id),
  mutant(
    "keeps marks in an object without looking",
    "ids/round-trip",
    class extends CorrectStore {
      override isMarked(id: string): boolean {
        return id in {} || super.isMarked(id);
      }
    },
  ),
  mutant(
    "refuses ids that are too long for its index",
    "ids/round-trip",
    class extends CorrectStore {
      override mark(id: string): void {
        if (Buffer.byteLength(id) > 2_700) throw new Error("index row size exceeds maximum");
        super.mark(id);
      }
    },
  ),
  mutant(
    "forgets by pattern",
    "ids/distinct",
    class extends CorrectStore {
      override drop(id: string): void {
        const source = id.replace(/[.*+?^${}()|[\]\\%]/g, (sign) =>
          "*%".includes(sign) ? ".*" : `\\${sign}`,
        );
        const pattern = new RegExp(`^${source}$`, "s");
        for (const key of this.database.entries.keys()) {
          if (pattern.test(key)) this.database.entries.delete(key);
        }
      }
    },
  ),
  mutant(
    "joins the ids of a batch with commas",
    "ids/batch",
    class extends CorrectStore {
      override async rememberMany(ids: readonly string[]): Promise<void> {
        return super.rememberMany(ids.join(",").split(","));
      }
    },
  ),
  mutant(
    "trims ids in batches alone",
    "ids/batch",
    class extends CorrectStore {
      override async seenMany(ids: readonly string[]): Promise<boolean[]> {
        return super.seenMany(ids.map((id) => id.trim() || id));
      }
    },
  ),
  mutant(
    "folds case in claims alone",
    "ids/claims",
    class extends CorrectStore {
      override async claim(id: string, leaseMs: number): ReturnType<CorrectStore["claim"]> {
        const folded = [...this.database.entries.keys()].some(
          (key) => key !== id && key.toLowerCase() === id.toLowerCase(),
        );
        return folded ? { status: "processed" } : super.claim(id, leaseMs);
      }
    },
  ),
  mutant(
    "accepts unusable ids",
    ["ids/unusable", "ids/unusable-batch", "ids/unusable-claims"],
    AcceptsAnything,
  ),
  mutant(
    "takes an empty id for unseen instead of refusing it",
    "ids/unusable",
    class extends CorrectStore {
      override async seen(id: string): Promise<boolean> {
        return (id as unknown) === "" ? false : super.seen(id);
      }
    },
  ),
  mutant(
    "takes a string for the list of its characters",
    "ids/unusable-batch",
    class extends CorrectStore {
      override requireIds(ids: readonly string[]): void {
        for (const id of ids) this.requireId(id);
      }
    },
  ),
  mutant(
    "remembers the ids of a batch until it meets a bad one",
    "ids/unusable-batch",
    class extends CorrectStore {
      override async rememberMany(ids: readonly string[]): Promise<void> {
        for (const id of ids) await this.remember(id);
      }
    },
  ),
];
