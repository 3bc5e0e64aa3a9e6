import assert from "node:assert/strict";
import * as path from "node:path";
import {
  findServer,
  isMissing,
  type Machine,
  type Missing,
  type Place,
  QUESTION,
  type Server,
  type Settings,
} from "../src/find";

const SETTINGS: Settings = { importStrategy: "fromEnvironment", path: [], interpreter: [], args: [] };
const PLACE: Place = {
  folder: "/project",
  home: "/home/me",
  activeInterpreter: undefined,
  bundled: "/extension/bundled",
  windows: false,
};
const WHOLE = { python: "cp312", version: "1.2.3" };

/** A machine with interpreters by what they answer, executables by what they print. */
class Fake implements Machine {
  asked: string[] = [];

  constructor(
    readonly interpreters: Record<string, object> = {},
    readonly executables: Record<string, string> = {},
    readonly path: Record<string, string> = {},
    readonly folders: Record<string, object> = {},
  ) {}

  isFile(name: string): boolean {
    return name in this.interpreters || name in this.executables;
  }

  isFolder(name: string): boolean {
    return name in this.folders;
  }

  onPath(name: string): string | undefined {
    return this.path[name];
  }

  async output(command: string[], env: Record<string, string>): Promise<string | undefined> {
    const [name] = command as [string];
    this.asked.push(name);
    if (command.at(-1) === "--version") {
      return this.executables[name];
    }
    assert.equal(command.at(-1), QUESTION);
    const packages = env["PYTHONPATH"];
    const answer = packages === undefined ? this.interpreters[name] : this.folders[packages];
    return answer === undefined ? undefined : `a line of a start-up file\n${JSON.stringify(answer)}\n`;
  }
}

async function found(settings: Partial<Settings>, place: Partial<Place>, machine: Machine): Promise<Server> {
  const result = await findServer({ ...SETTINGS, ...settings }, { ...PLACE, ...place }, machine);
  assert.ok(!isMissing(result), `missing: ${JSON.stringify(result)}`);
  return result;
}

async function missing(settings: Partial<Settings>, place: Partial<Place>, machine: Machine): Promise<Missing> {
  const result = await findServer({ ...SETTINGS, ...settings }, { ...PLACE, ...place }, machine);
  assert.ok(isMissing(result), `found: ${JSON.stringify(result)}`);
  return result;
}

describe("findServer", () => {
  const venv = path.join("/project", ".venv", "bin", "python");

  it("takes the environment that the Python extension has selected", async () => {
    const machine = new Fake({ "/env/python": WHOLE, [venv]: WHOLE });
    assert.deepEqual(await found({}, { activeInterpreter: "/env/python" }, machine), {
      command: "/env/python",
      args: ["-m", "samedevice", "server"],
      env: {},
      version: "1.2.3",
      origin: "environment",
    });
    assert.deepEqual(machine.asked, ["/env/python"]);
  });

  it("takes .venv in the workspace when there is no Python extension", async () => {
    assert.equal((await found({}, {}, new Fake({ [venv]: WHOLE }))).command, venv);
  });

  it("looks for Scripts/python.exe on Windows", async () => {
    const name = path.join("/project", "venv", "Scripts", "python.exe");
    assert.equal((await found({}, { windows: true }, new Fake({ [name]: WHOLE }))).command, name);
  });

  it("takes the interpreter of the settings, with its arguments, before the selected one", async () => {
    const machine = new Fake({ "/project/py": WHOLE, "/env/python": WHOLE });
    const settings = { interpreter: ["${workspaceFolder}/py", "-X", "dev"], args: ["--verbose"] };
    const server = await found(settings, { activeInterpreter: "/env/python" }, machine);
    assert.equal(server.command, "/project/py");
    assert.deepEqual(server.args, ["-X", "dev", "-m", "samedevice", "server", "--verbose"]);
  });

  it("takes an executable of the settings before all else", async () => {
    const machine = new Fake({ [venv]: WHOLE }, { "/home/me/bin/samedevice": "samedevice 2.0.0\n" });
    const server = await found({ path: ["/gone", "~/bin/samedevice"] }, {}, machine);
    assert.deepEqual(server, {
      command: "/home/me/bin/samedevice",
      args: ["server"],
      env: {},
      version: "2.0.0",
      origin: "setting",
    });
  });

  it("goes on when an executable of the settings is another program", async () => {
    const machine = new Fake({ [venv]: WHOLE }, { "/bin/other": "usage: other" });
    assert.equal((await found({ path: ["/bin/other"] }, {}, machine)).command, venv);
  });

  it("falls back to the bundled server, with the environment's interpreter", async () => {
    const packages = path.join("/extension/bundled", "cp312");
    const machine = new Fake({ [venv]: { python: "cp312" } }, {}, {}, { [packages]: WHOLE });
    assert.deepEqual(await found({}, {}, machine), {
      command: venv,
      args: ["-m", "samedevice", "server"],
      env: { PYTHONPATH: packages },
      version: "1.2.3",
      origin: "bundled",
    });
  });

  it("runs the bundled server on another Python where the environment's is too old for it", async () => {
    const packages = path.join("/extension/bundled", "cp312");
    const machine = new Fake(
      { [venv]: { python: "cp37" }, "/usr/bin/python3": { python: "cp312" } },
      {},
      { python3: "/usr/bin/python3" },
      { [packages]: WHOLE },
    );
    assert.equal((await found({}, {}, machine)).command, "/usr/bin/python3");
  });

  it("takes the bundled server alone when it is told to", async () => {
    const packages = path.join("/extension/bundled", "cp312");
    const machine = new Fake({ [venv]: WHOLE }, {}, {}, { [packages]: WHOLE });
    assert.equal((await found({ importStrategy: "useBundled" }, {}, machine)).origin, "bundled");
    const none = new Fake({ [venv]: WHOLE }, {}, { samedevice: "/bin/samedevice" });
    await missing({ importStrategy: "useBundled" }, {}, none);
  });

  it("takes samedevice from PATH at last", async () => {
    const machine = new Fake({}, { "/bin/samedevice": "0.1.0" }, { samedevice: "/bin/samedevice" });
    const server = await found({}, {}, machine);
    assert.deepEqual([server.command, server.origin], ["/bin/samedevice", "path"]);
  });

  it("says what it tried, and for which interpreter to install", async () => {
    const machine = new Fake({ [venv]: { ...WHOLE, missing: "pygls" } });
    const result = await missing({ path: ["/gone"] }, {}, machine);
    assert.equal(result.interpreter, venv);
    assert.deepEqual(result.reasons, [
      "/gone: there is no such file",
      `${venv}: has samedevice 1.2.3 without pygls`,
      `${venv}: nothing is bundled for cp312`,
      "samedevice: is not on PATH",
    ]);
  });

  it("says so when there is no Python at all", async () => {
    const result = await missing({}, { folder: undefined }, new Fake());
    assert.deepEqual(result, { reasons: ["samedevice: is not on PATH"], interpreter: undefined });
  });
});
