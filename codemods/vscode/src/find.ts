/**
 * Which samedevice to run: that of the project's environment, else the bundled one, else the one on
 * PATH. Knows nothing of VS Code, so that it can be tested without one.
 */

import * as path from "node:path";

export interface Settings {
  importStrategy: "fromEnvironment" | "useBundled";
  /** Executables of samedevice that go before all else. */
  path: string[];
  /** The Python interpreter and its arguments; empty for the environment's. */
  interpreter: string[];
  /** More arguments for `samedevice server`. */
  args: string[];
}

export interface Place {
  /** The first workspace folder. */
  folder: string | undefined;
  home: string;
  /** The interpreter that the Python extension has selected. */
  activeInterpreter: string | undefined;
  /** The folder with one folder of packages for each Python version, such as `cp312`. */
  bundled: string;
  windows: boolean;
}

/** What is asked of the machine. */
export interface Machine {
  isFile(name: string): boolean;
  isFolder(name: string): boolean;
  /** The full name of an executable on PATH. */
  onPath(name: string): string | undefined;
  /** What a command prints; undefined when it fails or takes too long. */
  output(command: string[], env: Record<string, string>): Promise<string | undefined>;
}

export type Origin = "setting" | "environment" | "bundled" | "path";

export interface Server {
  command: string;
  args: string[];
  env: Record<string, string>;
  version: string;
  origin: Origin;
}

/** No server, and for each thing that was tried the reason why it was not taken. */
export interface Missing {
  reasons: string[];
  /** The interpreter that samedevice can be installed for. */
  interpreter: string | undefined;
}

export function isMissing(found: Server | Missing): found is Missing {
  return "reasons" in found;
}

/** Prints what an interpreter has, as JSON. Importing the server shows that its packages are there. */
export const QUESTION = [
  "import json, sys",
  'answer = {"python": "cp%d%d" % sys.version_info[:2]}',
  "try:",
  "    import samedevice",
  '    answer["version"] = samedevice.__version__',
  "    import samedevice.server",
  "except ImportError as error:",
  '    answer["missing"] = error.name or str(error)',
  "print(json.dumps(answer))",
].join("\n");

interface Answer {
  python: string;
  version?: string;
  missing?: string;
}

export async function findServer(
  settings: Settings,
  place: Place,
  machine: Machine,
): Promise<Server | Missing> {
  const reasons: string[] = [];
  const server = ["server", ...settings.args];

  async function executable(name: string, origin: Origin): Promise<Server | undefined> {
    const printed = await machine.output([name, "--version"], {});
    const version = printed === undefined ? undefined : /\d+\.\d+\S*/.exec(printed)?.[0];
    if (version === undefined) {
      reasons.push(`${name}: does not answer to --version`);
      return undefined;
    }
    return { command: name, args: server, env: {}, version, origin };
  }

  async function ask(python: string[], env: Record<string, string>): Promise<Answer | undefined> {
    const printed = await machine.output([...python, "-c", QUESTION], env);
    try {
      return JSON.parse(printed?.trim().split("\n").pop() ?? "") as Answer;
    } catch {
      return undefined;
    }
  }

  async function module(
    python: string[],
    env: Record<string, string>,
    origin: Origin,
  ): Promise<Server | undefined> {
    const name = python.join(" ");
    const answer = await ask(python, env);
    if (answer === undefined) {
      reasons.push(`${name}: does not run`);
    } else if (answer.version === undefined) {
      reasons.push(`${name}: has no samedevice`);
    } else if (answer.missing !== undefined) {
      reasons.push(`${name}: has samedevice ${answer.version} without ${answer.missing}`);
    } else {
      const [command, ...first] = python as [string, ...string[]];
      const args = [...first, "-m", "samedevice", ...server];
      return { command, args, env, version: answer.version, origin };
    }
    return undefined;
  }

  async function bundled(): Promise<Server | undefined> {
    for (const python of [...interpreters, ...onPath]) {
      const answer = await ask(python, {});
      if (answer === undefined) {
        continue;
      }
      const packages = path.join(place.bundled, answer.python);
      if (!machine.isFolder(packages)) {
        reasons.push(`${python.join(" ")}: nothing is bundled for ${answer.python}`);
        continue;
      }
      const found = await module(python, { PYTHONPATH: packages }, "bundled");
      if (found) {
        return found;
      }
    }
    return undefined;
  }

  const interpreters = environment(settings, place, machine);
  const onPath = (place.windows ? ["py", "python"] : ["python3", "python"])
    .map((name) => machine.onPath(name))
    .filter((name) => name !== undefined)
    .map((name) => [name]);

  for (const name of settings.path.map((text) => replaced(text, place))) {
    if (!machine.isFile(name)) {
      reasons.push(`${name}: there is no such file`);
      continue;
    }
    const found = await executable(name, "setting");
    if (found) {
      return found;
    }
  }
  if (settings.importStrategy === "fromEnvironment") {
    for (const python of interpreters) {
      const found = await module(python, {}, "environment");
      if (found) {
        return found;
      }
    }
  }
  const carried = await bundled();
  if (carried) {
    return carried;
  }
  if (settings.importStrategy === "fromEnvironment") {
    const name = machine.onPath("samedevice");
    if (name === undefined) {
      reasons.push("samedevice: is not on PATH");
    } else {
      const found = await executable(name, "path");
      if (found) {
        return found;
      }
    }
  }
  return { reasons, interpreter: (interpreters[0] ?? onPath[0])?.[0] };
}

/** The interpreters of the project's environment, the wanted one first. */
function environment(settings: Settings, place: Place, machine: Machine): string[][] {
  if (settings.interpreter.length > 0) {
    return [settings.interpreter.map((text) => replaced(text, place))];
  }
  if (place.activeInterpreter !== undefined) {
    return [[place.activeInterpreter]];
  }
  const { folder } = place;
  if (folder === undefined) {
    return [];
  }
  const inside = place.windows ? ["Scripts", "python.exe"] : ["bin", "python"];
  return [".venv", "venv"]
    .map((name) => path.join(folder, name, ...inside))
    .filter((name) => machine.isFile(name))
    .map((name) => [name]);
}

/** Replaces `${workspaceFolder}` and a leading `~` in a setting. */
function replaced(text: string, place: Place): string {
  const whole = text.replaceAll("${workspaceFolder}", place.folder ?? "");
  return whole === "~" || /^~[/\\]/.test(whole) ? place.home + whole.slice(1) : whole;
}
