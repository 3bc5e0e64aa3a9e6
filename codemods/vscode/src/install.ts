/** How to install samedevice for an interpreter: from the wheel that comes with this extension. */

import { readdirSync } from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import type { Machine } from "./find";

export interface Installer {
  command: string;
  args: string[];
}

/** With pip; with uv where there is no pip, as in the environments that uv makes. */
export async function installer(
  interpreter: string,
  wheels: string,
  machine: Machine,
): Promise<Installer | { reason: string }> {
  const names = machine.isFolder(wheels) ? readdirSync(wheels) : [];
  const wheel = names.find((name) => name.endsWith(".whl"));
  if (wheel === undefined) {
    return { reason: "this extension was packaged without its wheel (npm run wheel)" };
  }
  // Not by its name alone: an index may have something else under it.
  const what = `samedevice[server] @ ${pathToFileURL(path.join(wheels, wheel)).href}`;
  if ((await machine.output([interpreter, "-m", "pip", "--version"], {})) !== undefined) {
    return { command: interpreter, args: ["-m", "pip", "install", what] };
  }
  const uv = machine.onPath("uv");
  if (uv !== undefined) {
    return { command: uv, args: ["pip", "install", "--python", interpreter, what] };
  }
  return { reason: `${interpreter} has no pip, and there is no uv on PATH` };
}
