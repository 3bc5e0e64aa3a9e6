/** The extension: VS Code's events to a session, its commands to the server. */

import { homedir } from "node:os";
import { PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  type LanguageClientOptions,
  LanguageClient,
  type ServerOptions,
} from "vscode-languageclient/node";
import { findServer, type Missing, type Server, type Settings } from "./find";
import { machine } from "./machine";
import { type Client, Session, type State } from "./session";
import { shown } from "./status";

const ID = "samedevice";
const SELECTOR = [
  { language: "python", scheme: "file" },
  { language: "python", scheme: "untitled" },
  { language: "python", scheme: "vscode-notebook-cell" },
];
/** Settings that decide which process runs; the server itself follows all others. */
const RESTARTING = ["enable", "importStrategy", "path", "interpreter", "args"];
const RESTARTS = 3; // after this many crashes in a row the server stays down
const LATELY = 180_000; // ms in which crashes are in a row
const SEVERITIES = {
  information: vscode.LanguageStatusSeverity.Information,
  warning: vscode.LanguageStatusSeverity.Warning,
  error: vscode.LanguageStatusSeverity.Error,
};

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel(ID, { log: true });
  const status = vscode.languages.createLanguageStatusItem(ID, SELECTOR);
  status.name = ID;
  let missing: Missing | undefined;
  const python = await pythonExtension(log);

  const current = new Session({
    isEnabled: () => vscode.workspace.getConfiguration(ID).get("enable", true),
    find: async () => {
      const folder = vscode.workspace.workspaceFolders?.find((one) => one.uri.scheme === "file");
      const place = {
        folder: folder?.uri.fsPath,
        home: homedir(),
        activeInterpreter: await activeInterpreter(python, folder?.uri),
        bundled: context.asAbsolutePath("bundled"),
        windows: process.platform === "win32",
      };
      return findServer(settings(), place, machine(context.extensionPath));
    },
    makeClient: (server, onEnd) => makeClient(server, context.extensionPath, log, onEnd),
    show: (state: State) => {
      const { text, detail, severity, busy, command } = shown(state);
      Object.assign(status, { text, detail, severity: SEVERITIES[severity], busy, command });
      missing = state.kind === "missing" ? state.missing : undefined;
    },
    log: (line) => log.info(line),
  });
  session = current;

  const commands: Record<string, () => unknown> = {
    fixFile: () =>
      vscode.commands.executeCommand("editor.action.codeAction", {
        kind: `source.fixAll.${ID}`,
        apply: "first",
      }),
    centralize: () => centralize(current),
    restart: () => current.restart(),
    showLog: () => log.show(),
    install: () => install(missing?.interpreter, log, current),
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`${ID}.${name}`, run));
  }
  context.subscriptions.push(
    log,
    status,
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (RESTARTING.some((name) => event.affectsConfiguration(`${ID}.${name}`))) {
        void current.restart();
      }
    }),
  );
  if (python !== undefined) {
    context.subscriptions.push(
      python.environments.onDidChangeActiveEnvironmentPath(() => void current.restart()),
    );
  }
  await current.restart();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}

function settings(): Settings {
  const section = vscode.workspace.getConfiguration(ID);
  return {
    importStrategy: section.get("importStrategy", "fromEnvironment"),
    path: section.get("path", []),
    interpreter: section.get("interpreter", []),
    args: section.get("args", []),
  };
}

/** The Python extension, which need not be installed: without it, `.venv` and PATH are looked at. */
async function pythonExtension(log: vscode.LogOutputChannel): Promise<PythonExtension | undefined> {
  try {
    return await PythonExtension.api();
  } catch {
    log.info("the Python extension is not there; looking for .venv and venv");
    return undefined;
  }
}

async function activeInterpreter(
  python: PythonExtension | undefined,
  folder: vscode.Uri | undefined,
): Promise<string | undefined> {
  if (python === undefined) {
    return undefined;
  }
  const chosen = python.environments.getActiveEnvironmentPath(folder);
  const environment = await python.environments.resolveEnvironment(chosen);
  return environment?.executable.uri?.fsPath;
}

function makeClient(
  server: Server,
  cwd: string,
  log: vscode.LogOutputChannel,
  onEnd: (why: string) => void,
): Client {
  const run: ServerOptions = {
    command: server.command,
    args: server.args,
    // Not the project's folder: `python -m` would import the project's own `queue.py` for Python's.
    options: { cwd, env: { ...process.env, ...server.env } },
  };
  let crashes: number[] = []; // when, in ms
  const options: LanguageClientOptions = {
    documentSelector: SELECTOR,
    outputChannel: log,
    initializationOptions: { settings: vscode.workspace.getConfiguration(ID) },
    synchronize: { configurationSection: ID },
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue }),
      closed: () => {
        const now = Date.now();
        crashes = [...crashes.filter((when) => now - when < LATELY), now];
        if (crashes.length <= RESTARTS) {
          log.warn("the server ended; starting it again");
          return { action: CloseAction.Restart, handled: true };
        }
        onEnd(`the server ended ${crashes.length} times`);
        return { action: CloseAction.DoNotRestart, handled: true };
      },
    },
  };
  const client = new LanguageClient(ID, ID, run, options);
  return {
    start: () => client.start(),
    stop: () => client.dispose(),
    request: (command, args) =>
      client.sendRequest("workspace/executeCommand", { command, arguments: args }),
  };
}

const APPLY = "Apply All";
const CHOOSE = "Choose in a Preview";

/**
 * Asks the server for the edits of a whole project. VS Code's preview has them unticked: whoever
 * wants all of them says so here.
 */
async function centralize(current: Session): Promise<void> {
  const active = vscode.window.activeTextEditor?.document.uri;
  const folder =
    (active && vscode.workspace.getWorkspaceFolder(active)) ??
    vscode.workspace.workspaceFolders?.[0];
  if (folder === undefined) {
    void vscode.window.showInformationMessage("samedevice: open a folder to centralize it");
    return;
  }
  const question = `Centralize the device of ${folder.name}?`;
  const detail = "Files may be changed that are not open. One Undo takes all of it back.";
  const options = { modal: true, detail };
  const answer = await vscode.window.showInformationMessage(question, options, APPLY, CHOOSE);
  if (answer === undefined) {
    return;
  }
  try {
    const given = [folder.uri.toString(), answer === APPLY];
    await current.request("samedevice.server.centralize", given);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(`samedevice: ${why}`);
  }
}

/** Installs samedevice where it was missed, after asking, in a terminal that shows how it goes. */
async function install(
  interpreter: string | undefined,
  log: vscode.LogOutputChannel,
  current: Session,
): Promise<void> {
  if (interpreter === undefined) {
    log.show();
    return;
  }
  const args = ["-m", "pip", "install", "samedevice[server]"];
  const question = `Run ${[interpreter, ...args].join(" ")}?`;
  if ((await vscode.window.showInformationMessage(question, { modal: true }, "Run")) !== "Run") {
    return;
  }
  const process = new vscode.ProcessExecution(interpreter, args);
  const task = new vscode.Task({ type: ID }, vscode.TaskScope.Workspace, "install", ID, process);
  const execution = await vscode.tasks.executeTask(task);
  const ended = vscode.tasks.onDidEndTaskProcess((event) => {
    if (event.execution === execution) {
      ended.dispose();
      void current.restart();
    }
  });
}
