/** How many slots the keys of a cluster are spread over. */
const slotCount = 16_384;

/** CRC-16 (XMODEM) of each byte. */
const crcTable = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The slot that a cluster keeps this key in: of its hash tag, the part between the first `{` and the next `}`, if it has one. */
export function slotOf(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(hashTag(key))) {
    crc = ((crc << 8) ^ (crcTable[(crc >> 8) ^ byte] ?? 0)) & 0xffff;
  }
  return crc % slotCount;
}

/** The ids in groups whose keys share a slot, so that one command may name them. */
export function groupBySlot(ids: readonly string[], keyOf: (id: string) => string): string[][] {
  const groups = new Map<number, string[]>();
  for (const id of ids) {
    const slot = slotOf(keyOf(id));
    const group = groups.get(slot);
    if (group) group.push(id);
    else groups.set(slot, [id]);
  }
  return [...groups.values()];
}

/** Does this beginning of all keys hold a whole hash tag, so that they all share one slot? */
export function holdsHashTag(prefix: string): boolean {
  return hashTag(prefix) !== prefix;
}

function hashTag(key: string): string {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}
