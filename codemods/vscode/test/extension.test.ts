import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import type { ExtensionContext } from "vscode";
import manifest from "../package.json";
import { activate, deactivate } from "../src/extension";
import { CloseAction, LanguageClient } from "./languageclient";
import { python } from "./python";
import { configuration, LanguageStatusSeverity, taskEnd, Uri, world } from "./vscode";

const WHOLE = '{"python": "cp312", "version": "1.2.3"}';

describe("extension", () => {
  let folder: string;
  const searched = process.env["PATH"];
  let context: { subscriptions: { dispose(): void }[] };

  /** Writes an interpreter that gives one answer to whatever it is asked. */
  function interpreter(name: string, answer: string): string {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\necho '${answer}'\n`);
    chmodSync(file, 0o755);
    return file;
  }

  async function start(): Promise<void> {
    const all = {
      ...context,
      extensionPath: folder,
      asAbsolutePath: (name: string) => path.join(folder, name),
    };
    await activate(all as unknown as ExtensionContext);
  }

  /** Waits until what an event began has come to its end. */
  async function until(done: () => boolean): Promise<void> {
    for (let round = 0; round < 500 && !done(); round++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.ok(done(), `still not so: ${String(done)}`);
  }

  function client(): LanguageClient {
    const last = LanguageClient.made.at(-1);
    assert.ok(last, "no client was made");
    return last;
  }

  function status(): Record<string, unknown> {
    return world.statuses.at(-1) ?? {};
  }

  beforeEach(function () {
    if (process.platform === "win32") {
      this.skip();
    }
    folder = mkdtempSync(path.join(tmpdir(), "samedevice-"));
    process.env["PATH"] = folder; // nothing else of this machine may be found
    context = { subscriptions: [] };
    Object.assign(world, { settings: {}, folders: [{ uri: new Uri(folder), name: "rings" }], active: undefined, notebook: undefined, diagnostics: [], opened: [] });
    Object.assign(world, { executed: [], messages: [], answer: undefined, tasks: [], log: [] });
    python.interpreter = undefined;
    LanguageClient.made = [];
  });

  afterEach(async () => {
    process.env["PATH"] = searched;
    await deactivate();
    for (const one of context.subscriptions) {
      one.dispose();
    }
    rmSync(folder, { recursive: true });
  });

  it("starts the server of the selected environment, outside of the project's folder", async () => {
    python.interpreter = interpreter("python", WHOLE);
    await start();
    const { command, args, options } = client().run;
    assert.deepEqual([command, ...args], [python.interpreter, "-m", "samedevice", "server"]);
    assert.equal(options.cwd, folder); // the extension's folder in this test
    assert.equal(options.env["PATH"], process.env["PATH"]);
    assert.ok(client().running);
    assert.deepEqual([status()["text"], status()["busy"]], ["samedevice 1.2.3", false]);
    assert.ok(client().options.documentSelector.some((one) => one.scheme === "vscode-notebook-cell"));
  });

  it("registers exactly the commands that it declares", async () => {
    await start();
    const declared = manifest.contributes.commands.map(({ command }) => command);
    assert.deepEqual(Object.keys(world.commands).sort(), declared.sort());
  });

  it("reads only settings that it declares", () => {
    const source = readFileSync("src/extension.ts", "utf-8");
    const read = [...source.matchAll(/\.get\("(\w+)"/g)].map((match) => `samedevice.${match[1]}`);
    assert.ok(read.length >= 5);
    const declared = Object.keys(manifest.contributes.configuration.properties);
    assert.deepEqual(read.filter((name) => !declared.includes(name)), []);
  });

  it("restarts when the environment or a setting of the process changes, and for no other", async () => {
    python.interpreter = interpreter("python", WHOLE);
    await start();
    const first = client();
    configuration.fire({ affectsConfiguration: (name) => name === "samedevice.inlayHints" });
    configuration.fire({ affectsConfiguration: (name) => name === "samedevice.args" });
    await until(() => client() !== first && client().running);
    assert.ok(!first.running);
    python.interpreter = interpreter("other", WHOLE);
    python.changed();
    await until(() => client().run.command === python.interpreter && client().running);
    assert.equal(LanguageClient.made.length, 3); // one for each, and none for inlayHints
    assert.equal(LanguageClient.made.filter((one) => one.running).length, 1);
  });

  it("stops the server when it is switched off", async () => {
    python.interpreter = interpreter("python", WHOLE);
    await start();
    world.settings["samedevice.enable"] = false;
    configuration.fire({ affectsConfiguration: (name) => name === "samedevice.enable" });
    await until(() => status()["detail"] === "off" && !client().running);
  });

  it("gives a server that ends another chance, but not for ever", async () => {
    python.interpreter = interpreter("python", WHOLE);
    await start();
    const { errorHandler } = client().options;
    const actions = [1, 2, 3, 4].map(() => errorHandler.closed().action);
    const { Restart, DoNotRestart } = CloseAction;
    assert.deepEqual(actions, [Restart, Restart, Restart, DoNotRestart]);
    assert.equal(status()["severity"], LanguageStatusSeverity.Error);
  });

  it("offers to install where samedevice is missing, and starts it then", async () => {
    python.interpreter = interpreter("python", '{"python": "cp312", "missing": "samedevice"}');
    await start();
    assert.equal(LanguageClient.made.length, 0);
    assert.deepEqual(status()["command"], { command: "samedevice.install", title: "Install" });
    mkdirSync(path.join(folder, "wheel"));
    writeFileSync(path.join(folder, "wheel", "samedevice-1.2.3-py3-none-any.whl"), "");
    await world.commands["samedevice.install"]?.();
    assert.equal(world.tasks.length, 0); // not without a yes
    world.answer = "Install";
    await world.commands["samedevice.install"]?.();
    const [task] = world.tasks;
    assert.ok(task);
    assert.equal(task.execution.process, python.interpreter);
    assert.deepEqual(task.execution.args.slice(0, 3), ["-m", "pip", "install"]);
    assert.match(task.execution.args[3] ?? "", /^samedevice\[server\] @ file:.*samedevice-1\.2\.3-/);
    interpreter("python", WHOLE);
    taskEnd.fire({ execution: task, exitCode: 0 });
    await until(() => LanguageClient.made.length === 1 && client().running);
  });

  it("says that the installation failed", async () => {
    python.interpreter = interpreter("python", '{"python": "cp312", "missing": "samedevice"}');
    await start();
    world.answer = "Install";
    await world.commands["samedevice.install"]?.();
    assert.match(world.messages.pop() ?? "", /packaged without its wheel/);
    mkdirSync(path.join(folder, "wheel"));
    writeFileSync(path.join(folder, "wheel", "samedevice-1.2.3-py3-none-any.whl"), "");
    await world.commands["samedevice.install"]?.();
    const [task] = world.tasks;
    assert.ok(task);
    taskEnd.fire({ execution: task, exitCode: 1 });
    assert.match(world.messages.pop() ?? "", /was not installed/);
  });

  it("asks the server to centralize the folder of the active file", async () => {
    python.interpreter = interpreter("python", WHOLE);
    world.folders = [{ uri: new Uri("/elsewhere"), name: "a" }, { uri: new Uri(folder), name: "b" }];
    world.active = new Uri(path.join(folder, "train.py"));
    await start();
    await world.commands["samedevice.centralize"]?.();
    assert.deepEqual(client().requests, []); // not without a yes
    for (const [answer, all] of [["Apply All", true], ["Choose in a Preview", false]]) {
      world.answer = answer as string;
      await world.commands["samedevice.centralize"]?.();
      const given = { command: "samedevice.server.centralize", arguments: [`file://${folder}`, all] };
      assert.deepEqual(client().requests.pop(), ["workspace/executeCommand", given]);
    }
  });

  it("opens the notebooks that will change before it centralizes", async () => {
    python.interpreter = interpreter("python", WHOLE);
    const [ours, theirs] = [[{ source: "samedevice" }], [{ source: "Ruff" }]];
    const book = { scheme: "file", path: "/book.ipynb" };
    world.diagnostics = [
      [book, ours],
      [{ scheme: "file", path: "/other.ipynb" }, theirs],
      [{ scheme: "vscode-notebook-cell", path: "/open.ipynb" }, ours],
      [{ scheme: "file", path: "/train.py" }, ours],
    ];
    await start();
    world.answer = "Apply All";
    await world.commands["samedevice.centralize"]?.();
    assert.deepEqual(world.opened, [book]);
    assert.equal(client().requests.length, 1);
  });

  it("says why it cannot centralize", async () => {
    world.settings["samedevice.enable"] = false;
    world.answer = "Apply All";
    await start();
    await world.commands["samedevice.centralize"]?.();
    world.folders = [];
    await world.commands["samedevice.centralize"]?.();
    assert.deepEqual(world.messages.slice(1), [
      "samedevice: the samedevice server is not running",
      "samedevice: open a folder to centralize it",
    ]);
  });

  it("has the action that centralizes ask first, and leaves the others alone", async () => {
    python.interpreter = interpreter("python", WHOLE);
    await start();
    const { middleware } = client().options;
    const actions = ["source.centralize.samedevice", "quickfix"].map((value) => ({ title: value, kind: { value } }));
    const offered = await middleware.provideCodeActions({}, {}, {}, {}, async () => actions);
    const [first, second] = offered as { command?: { command: string } }[];
    assert.equal(first?.command?.command, "samedevice.centralize");
    assert.equal(second?.command, undefined);
    const resolved = actions.map((action) => middleware.resolveCodeAction(action, {}, () => "with its edit"));
    assert.deepEqual(resolved, [actions[0], "with its edit"]);
  });

  it("fixes a notebook by asking the server", async () => {
    python.interpreter = interpreter("python", WHOLE);
    world.notebook = new Uri("/book.ipynb");
    await start();
    await world.commands["samedevice.fixFile"]?.();
    const given = { command: "samedevice.server.fixFile", arguments: ["file:///book.ipynb"] };
    assert.deepEqual(client().requests, [["workspace/executeCommand", given]]);
    assert.deepEqual(world.messages, []);
    client().answer = { files: 0 };
    await world.commands["samedevice.fixFile"]?.();
    assert.match(world.messages.pop() ?? "", /nothing in this notebook/);
  });

  it("fixes a file by the editor's own code action", async () => {
    await start();
    await world.commands["samedevice.fixFile"]?.();
    const action = { kind: "source.fixAll.samedevice", apply: "first" };
    assert.deepEqual(world.executed, [["editor.action.codeAction", action]]);
  });
});
