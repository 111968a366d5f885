import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { run } from "../run.ts";
import { writeFiles } from "./project.ts";

/** The name under which a version of TypeScript is installed here: the oldest that we support, the last of 5, and 7. */
export type Compiler = "typescript-oldest" | "typescript5" | "typescript";

const resolve = createRequire(import.meta.url).resolve;

/** A user's compiler settings that make a difference for the types of packages. */
export interface CompilerSettings {
  readonly compiler: Compiler;
  readonly module: string;
  readonly moduleResolution: string;
  /** The packages of `@types` whose globals are known. */
  readonly types: readonly string[];
}

/**
 * Compiles programs in the folder, the types of packages included, and gives the complaints: one a line. What an old compiler
 * does not understand of packages that are not ours is left out.
 */
export async function complaints(
  folder: string,
  programs: Readonly<Record<string, string>>,
  { compiler, ...settings }: CompilerSettings,
): Promise<string[]> {
  const project = `${[compiler, settings.moduleResolution, ...Object.keys(programs)].join("-")}.json`;
  const config = {
    files: Object.keys(programs),
    compilerOptions: {
      target: "es2022",
      strict: true,
      exactOptionalPropertyTypes: true,
      esModuleInterop: true,
      skipLibCheck: false,
      skipDefaultLibCheck: true,
      noEmit: true,
      ...settings,
    },
  };
  writeFiles(folder, { ...programs, [project]: JSON.stringify(config) });
  const tsc = join(dirname(resolve(`${compiler}/package.json`)), "bin/tsc");
  const { output, code } = await run(process.execPath, [tsc, "--pretty", "false", "-p", project], {
    folder,
    mayFail: true,
  });
  const errors = output.split("\n").filter((line) => /error TS\d+/.test(line));
  if (code !== 0 && errors.length === 0) throw new Error(`tsc failed: ${output}`);
  return errors.filter((line) => !/^node_modules\/(?!@bq\/)/.test(line));
}
