/** What the extension uses of VS Code, as far as its tests look at it. Stands in for "vscode". */

export const world = {
  settings: {} as Record<string, unknown>,
  folders: [] as { uri: Uri; name: string }[],
  active: undefined as Uri | undefined,
  notebook: undefined as Uri | undefined,
  commands: {} as Record<string, () => unknown>,
  executed: [] as unknown[][],
  messages: [] as string[],
  answer: undefined as string | undefined,
  tasks: [] as Task[],
  diagnostics: [] as [object, { source: string }[]][],
  opened: [] as object[],
  statuses: [] as Record<string, unknown>[],
  log: [] as string[],
  logShown: 0,
};

type Listener<T> = (event: T) => void;

function emitter<T>(): { event: (listener: Listener<T>) => Disposable; fire: Listener<T> } {
  const listeners = new Set<Listener<T>>();
  return {
    event: (listener) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
    fire: (event) => {
      for (const listener of listeners) {
        listener(event);
      }
    },
  };
}

interface Disposable {
  dispose(): void;
}

export class Uri {
  scheme = "file";
  constructor(readonly fsPath: string) {}
  toString(): string {
    return `file://${this.fsPath}`;
  }
}

export enum LanguageStatusSeverity {
  Information = 0,
  Warning = 1,
  Error = 2,
}

export enum TaskScope {
  Workspace = 2,
}

export class ProcessExecution {
  constructor(
    readonly process: string,
    readonly args: string[],
  ) {}
}

export class Task {
  constructor(
    readonly definition: object,
    readonly scope: TaskScope,
    readonly name: string,
    readonly source: string,
    readonly execution: ProcessExecution,
  ) {}
}

export const configuration = emitter<{ affectsConfiguration(name: string): boolean }>();
export const taskEnd = emitter<{ execution: Task; exitCode: number }>();

export const workspace = {
  get workspaceFolders() {
    return world.folders.length > 0 ? world.folders : undefined;
  },
  getConfiguration: (section: string) => ({
    get: (name: string, otherwise: unknown) => world.settings[`${section}.${name}`] ?? otherwise,
  }),
  getWorkspaceFolder: (uri: Uri) =>
    world.folders.find((folder) => uri.fsPath.startsWith(folder.uri.fsPath)),
  onDidChangeConfiguration: configuration.event,
  openNotebookDocument: async (uri: object) => void world.opened.push(uri),
};

export const window = {
  get activeTextEditor() {
    return world.active && { document: { uri: world.active } };
  },
  get activeNotebookEditor() {
    return world.notebook && { notebook: { uri: world.notebook, notebookType: "jupyter-notebook" } };
  },
  createOutputChannel: () => ({
    info: (line: string) => world.log.push(line),
    warn: (line: string) => world.log.push(line),
    show: () => (world.logShown += 1),
    dispose: () => {},
  }),
  showInformationMessage: async (message: string) => {
    world.messages.push(message);
    return world.answer;
  },
  showErrorMessage: async (message: string) => void world.messages.push(message),
};

export const languages = {
  getDiagnostics: () => world.diagnostics,
  createLanguageStatusItem: () => {
    const status: Record<string, unknown> = { dispose: () => {} };
    world.statuses.push(status);
    return status;
  },
};

export const commands = {
  registerCommand: (name: string, run: () => unknown): Disposable => {
    if (name in world.commands) {
      throw new Error(`command '${name}' already exists`);
    }
    world.commands[name] = run;
    return { dispose: () => delete world.commands[name] };
  },
  executeCommand: async (...all: unknown[]) => void world.executed.push(all),
};

export const tasks = {
  executeTask: async (task: Task) => {
    world.tasks.push(task);
    return task;
  },
  onDidEndTaskProcess: taskEnd.event,
};
