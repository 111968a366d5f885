// Runs one scene in a process that does nothing else, and prints what was measured: scene-process.ts NAME DELIVERIES URL.
import { scenes } from "./scenes.ts";
import { watch } from "./watch.ts";

const [name, deliveries, url = ""] = process.argv.slice(2);
const scene = scenes.find((each) => each.name === name);
if (scene === undefined) throw new Error(`There is no scene ${name}.`);
process.stdout.write(JSON.stringify(await watch(scene, Number(deliveries), url)));
