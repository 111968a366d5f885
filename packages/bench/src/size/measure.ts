import { type Spread, spread } from "../statistics.ts";
import { type Bundle, bundle } from "./bundle.ts";
import { importMs } from "./import-time.ts";
import { core, type PublishedPackage, requireBuilt, stores } from "./packages.ts";
import { unpackedBytes } from "./packed.ts";

/** One measured figure: the median of one or more values. */
export interface SizeFigure {
  /** As the budgets name it. */
  readonly name: string;
  readonly unit: "bytes" | "ms";
  readonly value: Spread;
}

/** What a user's program takes of core, by the name of the figure. */
const programs = {
  "core, everything, gzipped": `export * from "${core.name}";`,
  "core, wrap alone, gzipped": `export { wrap } from "${core.name}";`,
  "core, wrapClaiming alone, gzipped": `export { wrapClaiming } from "${core.name}";`,
} as const;

/** Sizes of what a program loads, bundled, minified and compressed. */
export async function measureGzipped(): Promise<SizeFigure[]> {
  const figures: SizeFigure[] = [];
  for (const [name, source] of Object.entries(programs)) {
    figures.push(bytes(name, (await bundle(source)).gzippedBytes));
  }
  for (const store of stores) {
    const { gzippedBytes } = await bundlePackage(store);
    figures.push(bytes(`${store.short}, without core and driver, gzipped`, gzippedBytes));
  }
  return figures;
}

/** Everything that a package exports. Core, unless it is the package, and the driver stay outside. */
export function bundlePackage(bundled: PublishedPackage): Promise<Bundle> {
  requireBuilt(bundled);
  const outside = bundled === core ? [] : [core.name];
  if (bundled.driver !== undefined) outside.push(bundled.driver);
  return bundle(`export * from "${bundled.name}";`, outside);
}

/** Sizes of what a user installs: core, and core with a store; without the driver. */
export async function measureInstalled(): Promise<SizeFigure[]> {
  const [ofCore = 0, ...ofStores] = await unpackedBytes([core, ...stores]);
  return [
    bytes("core, installed", ofCore),
    ...stores.map(({ short }, i) => bytes(`core and ${short}, installed`, ofCore + (ofStores[i] ?? 0))),
  ];
}

/** What importing takes in a fresh process; of a store with its driver. */
export async function measureImports(processes: number): Promise<SizeFigure[]> {
  const figures: SizeFigure[] = [await imported("core, import", core.name, processes)];
  for (const { short, name } of stores) {
    figures.push(await imported(`${short}, import with its driver`, name, processes));
  }
  return figures;
}

/** What importing the drivers takes by itself, to compare. It is not ours, and has no budget. */
export async function measureDriverImports(processes: number): Promise<SizeFigure[]> {
  const figures: SizeFigure[] = [];
  for (const { driver } of stores) {
    if (driver !== undefined) figures.push(await imported(`${driver}, import alone`, driver, processes));
  }
  return figures;
}

async function imported(name: string, module: string, processes: number): Promise<SizeFigure> {
  return { name, unit: "ms", value: await importMs(module, processes) };
}

function bytes(name: string, value: number): SizeFigure {
  return { name, unit: "bytes", value: spread([value]) };
}
