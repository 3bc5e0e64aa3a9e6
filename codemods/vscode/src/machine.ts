/** The machine that `find` asks: files, PATH and processes. */

import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import * as path from "node:path";
import type { Machine } from "./find";

const TIMEOUT = 20_000; // ms: the first import after an installation compiles all of it

/** `quiet` is a folder without Python files: a module of the project must not stand in for another. */
export function machine(quiet: string): Machine {
  return {
    isFile: (name) => statSync(name, { throwIfNoEntry: false })?.isFile() ?? false,
    isFolder: (name) => statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false,
    onPath,
    output: (command, env) => output(command, env, quiet),
  };
}

function onPath(name: string): string | undefined {
  const endings = process.platform === "win32" ? [".exe", ".cmd", ".bat"] : [""];
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    for (const ending of endings) {
      const file = path.join(folder, name + ending);
      if (folder !== "" && (statSync(file, { throwIfNoEntry: false })?.isFile() ?? false)) {
        return file;
      }
    }
  }
  return undefined;
}

function output(
  command: string[],
  env: Record<string, string>,
  cwd: string,
): Promise<string | undefined> {
  const [file, ...args] = command as [string, ...string[]];
  return new Promise((resolve) => {
    const options = { cwd, env: { ...process.env, ...env }, timeout: TIMEOUT, windowsHide: true };
    execFile(file, args, options, (error, stdout) => resolve(error ? undefined : stdout));
  });
}
