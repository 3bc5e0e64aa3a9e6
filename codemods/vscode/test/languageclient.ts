/** Stands in for "vscode-languageclient/node": clients that record what they are asked. */

interface Options {
  errorHandler: { closed(): { action: CloseAction } };
  documentSelector: { language: string; scheme: string }[];
  middleware: {
    provideCodeActions(...given: unknown[]): Promise<unknown[]>;
    resolveCodeAction(action: object, token: object, next: () => unknown): unknown;
  };
}

interface Run {
  command: string;
  args: string[];
  options: { cwd: string; env: Record<string, string> };
}

export enum CloseAction {
  DoNotRestart = 1,
  Restart = 2,
}

export enum ErrorAction {
  Continue = 1,
}

export class LanguageClient {
  static made: LanguageClient[] = [];
  running = false;
  requests: unknown[][] = [];
  answer: unknown = { files: 1 };

  constructor(
    readonly id: string,
    readonly name: string,
    readonly run: Run,
    readonly options: Options,
  ) {
    LanguageClient.made.push(this);
  }

  async start(): Promise<void> {
    this.running = true;
  }

  async dispose(): Promise<void> {
    this.running = false;
  }

  async sendRequest(...request: unknown[]): Promise<unknown> {
    this.requests.push(request);
    return this.answer;
  }
}
