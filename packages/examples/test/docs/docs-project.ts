import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { filesOfReader, leftToReader } from "./left-to-reader.ts";
import { codeBlocks } from "./markdown.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const compiler = here("../../../../node_modules/typescript/bin/tsc");

/**
 * A folder with the packages installed, and a folder in it for each page, with the page's blocks as files: under the name in the
 * first line of a block, or a number.
 */
export class DocsProject implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "bq-docs-"));
  readonly files: string[] = [];
  readonly #addresses: Readonly<Record<string, string>>;

  /** @param addresses of servers that the pages name, and those to take instead */
  constructor(pages: readonly string[], addresses: Readonly<Record<string, string>> = {}) {
    this.#addresses = addresses;
    symlinkSync(here("../../node_modules"), join(this.folder, "node_modules"));
    writeFileSync(join(this.folder, "package.json"), '{"type":"module"}');
    for (const page of pages) this.#addPage(page);
    const config = {
      extends: here("../../../../tsconfig.base.json"),
      compilerOptions: {
        typeRoots: [here("../../../../node_modules/@types")],
        // What an example makes, its reader goes on to use.
        noUnusedLocals: false,
        declaration: false,
        isolatedDeclarations: false,
        experimentalDecorators: true,
        rewriteRelativeImportExtensions: true,
      },
      files: this.files,
    };
    writeFileSync(join(this.folder, "tsconfig.json"), JSON.stringify(config));
  }

  /** Where the blocks of a page are. */
  pageFolder(page: string): string {
    return join(this.folder, page);
  }

  #addPage(page: string): void {
    const folder = this.pageFolder(page);
    mkdirSync(folder, { recursive: true });
    // The pages tell their reader to copy these.
    if (page === "docs/recipes.md")
      cpSync(here("../../src/parking"), join(folder, "parking"), { recursive: true });
    const blocks = codeBlocks(page, "ts").map((code, index) => {
      const [, name] = /^\/\/ (\S+\.m?ts)\n/.exec(code) ?? [];
      return name ? [name, code] : [`block-${index + 1}.ts`, withReadersPart(page, code)];
    });
    for (const [name = "", content = ""] of [...blocks, ...Object.entries(filesOfReader[page] ?? {})]) {
      writeFileSync(join(folder, name), this.#withAddresses(content));
      this.files.push(`${page}/${name}`);
    }
  }

  #withAddresses(code: string): string {
    return Object.entries(this.#addresses).reduce(
      (text, [named, taken]) => text.replaceAll(named, taken),
      code,
    );
  }

  /** Compiles everything; answers what the compiler has to say against it, each complaint as one string. */
  typecheck(): string[] {
    // What explains a complaint further is indented below it.
    return this.#compile("--noEmit")
      .split(/\n(?!\s)/)
      .filter((complaint) => complaint !== "");
  }

  /** Compiles everything to JavaScript, for pages whose TypeScript Node cannot run, such as decorators. */
  emit(): void {
    this.#compile("--noEmit", "false");
  }

  /** Runs a program, with arguments if need be, in the folder of a page; answers what it printed. */
  run(page: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}): string {
    const { stdout, stderr } = spawnSync(process.execPath, ["--conditions=@bq/source", ...args], {
      cwd: this.pageFolder(page),
      encoding: "utf8",
      env: { ...process.env, ...environment },
    });
    return stdout + stderr;
  }

  /** Writes a program that tries out what a page shows, and runs it. */
  tryOut(page: string, code: string, environment?: Readonly<Record<string, string>>): string {
    writeFileSync(join(this.pageFolder(page), "try-out.mts"), code);
    return this.run(page, ["try-out.mts"], environment);
  }

  #compile(...options: string[]): string {
    const args = [compiler, "-p", ".", ...options];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: this.folder, encoding: "utf8" });
    return stdout + stderr;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Puts before a block what it leaves to its reader. It is a module, so that its names are its own. */
function withReadersPart(page: string, code: string): string {
  const known = Object.entries(leftToReader[page] ?? {});
  const given = new Map<string, string>();
  const uses = (text: string, name: string) => new RegExp(`\\b${name}\\b`).test(text);
  const makes = (name: string) =>
    new RegExp(`(?:const|function|class|interface) ${name}\\b|^import .*\\b${name}\\b.* from`, "m").test(
      code,
    );
  // A line that is added may itself use another name.
  for (let text = code; ; ) {
    const added = known.filter(([name]) => !given.has(name) && uses(text, name) && !makes(name));
    if (added.length === 0) break;
    for (const [name, line] of added) given.set(name, line);
    text = added.map(([, line]) => line).join("\n");
  }
  return [...given.values(), code, "export {};\n"].join("\n");
}
