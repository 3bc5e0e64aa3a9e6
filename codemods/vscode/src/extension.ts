/** The extension: VS Code's events to a session, its commands to the server. */

import { homedir } from "node:os";
import * as path from "node:path";
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
import { installer } from "./install";
import { machine } from "./machine";
import { type Client, Session, type State } from "./session";
import { shown } from "./status";

const ID = "samedevice";
const SELECTOR = [
  { language: "python", scheme: "file" },
  { language: "python", scheme: "untitled" },
  { language: "python", scheme: "vscode-notebook-cell" },
];
const NOTEBOOK = "jupyter-notebook";
const CENTRALIZE = `source.centralize.${ID}`;
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
    fixFile: () => fixFile(current),
    centralize: () => centralize(current),
    restart: () => current.restart(),
    showLog: () => log.show(),
    install: () => install(missing?.interpreter, context, log, current),
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
    middleware: {
      // Its edit would open the preview with nothing ticked: the command asks before.
      provideCodeActions: async (document, range, context, token, next) => {
        const actions = await next(document, range, context, token);
        for (const action of actions ?? []) {
          if (isCentralize(action)) {
            action.command = { command: `${ID}.centralize`, title: action.title };
          }
        }
        return actions;
      },
      resolveCodeAction: (action, token, next) => (isCentralize(action) ? action : next(action, token)),
    },
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

function isCentralize(action: vscode.Command | vscode.CodeAction): action is vscode.CodeAction {
  return "kind" in action && action.kind?.value === CENTRALIZE;
}

/** Has the server run one of its commands, and tells why it did not. */
async function request(current: Session, command: string, given: unknown[]): Promise<unknown> {
  try {
    return await current.request(`${ID}.server.${command}`, given);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    void vscode.window.showErrorMessage(why.startsWith(ID) ? why : `${ID}: ${why}`);
    return undefined;
  }
}

/** The editor's own action needs the cursor in a text: of a notebook the server is asked itself. */
async function fixFile(current: Session): Promise<void> {
  const notebook = vscode.window.activeNotebookEditor?.notebook;
  if (notebook?.notebookType !== NOTEBOOK) {
    const action = { kind: `source.fixAll.${ID}`, apply: "first" };
    await vscode.commands.executeCommand("editor.action.codeAction", action);
    return;
  }
  const done = await request(current, "fixFile", [notebook.uri.toString()]);
  if ((done as { files: number } | undefined)?.files === 0) {
    void vscode.window.showInformationMessage(`${ID}: nothing in this notebook can be fixed`);
  }
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
  await openNotebooks();
  await request(current, "centralize", [folder.uri.toString(), answer === APPLY]);
}

/** Opens the notebooks with findings: VS Code changes a notebook only where it is open. */
async function openNotebooks(): Promise<void> {
  for (const [uri, told] of vscode.languages.getDiagnostics()) {
    const isNotebook = uri.scheme === "file" && uri.path.endsWith(".ipynb");
    if (isNotebook && told.some((one) => one.source === ID)) {
      await vscode.workspace.openNotebookDocument(uri);
    }
  }
}

/** Installs samedevice where it was missed, after asking, in a terminal that shows how it goes. */
async function install(
  interpreter: string | undefined,
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  current: Session,
): Promise<void> {
  if (interpreter === undefined) {
    log.show();
    return;
  }
  const wheels = context.asAbsolutePath("wheel");
  const found = await installer(interpreter, wheels, machine(context.extensionPath));
  if ("reason" in found) {
    void vscode.window.showErrorMessage(`${ID}: ${found.reason}`);
    return;
  }
  const { command, args } = found;
  const question = `Install ${ID} for ${interpreter}?`;
  const options = { modal: true, detail: [path.basename(command), ...args].join(" ") };
  if ((await vscode.window.showInformationMessage(question, options, "Install")) !== "Install") {
    return;
  }
  const process = new vscode.ProcessExecution(command, args);
  const task = new vscode.Task({ type: ID }, vscode.TaskScope.Workspace, "install", ID, process);
  const execution = await vscode.tasks.executeTask(task);
  const ended = vscode.tasks.onDidEndTaskProcess((event) => {
    if (event.execution === execution) {
      ended.dispose();
      if (event.exitCode !== 0) {
        void vscode.window.showErrorMessage(`${ID}: it was not installed; the terminal says why`);
      }
      void current.restart();
    }
  });
}
