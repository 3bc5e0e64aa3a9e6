/**
 * One server after another: starts, restarts and stops never overlap, and what is shown follows.
 * Knows nothing of VS Code.
 */

import { isMissing, type Missing, type Server } from "./find";

export type State =
  | { kind: "off" }
  | { kind: "starting" }
  | { kind: "running"; server: Server }
  | { kind: "missing"; missing: Missing }
  | { kind: "failed"; why: string };

/** A language client, as far as a session has to do with it. */
export interface Client {
  start(): Promise<void>;
  stop(): Promise<void>;
  request(command: string, args: unknown[]): Promise<unknown>;
}

export interface Hooks {
  isEnabled(): boolean;
  find(): Promise<Server | Missing>;
  /** Makes a client that is not started; `onEnd` is called when its server is gone for good. */
  makeClient(server: Server, onEnd: (why: string) => void): Client;
  show(state: State): void;
  log(line: string): void;
}

export class Session {
  #client: Client | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly hooks: Hooks) {}

  /** Ends the server if there is one, and starts the one that is wanted now. */
  restart(): Promise<void> {
    return this.#next(async () => {
      await this.#end();
      await this.#begin();
    });
  }

  stop(): Promise<void> {
    return this.#next(() => this.#end());
  }

  /** Asks the server to run one of its commands; throws when there is no server. */
  async request(command: string, args: unknown[]): Promise<unknown> {
    await this.#last;
    if (this.#client === undefined) {
      throw new Error("the samedevice server is not running");
    }
    return this.#client.request(command, args);
  }

  #next(step: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(step).catch((error: unknown) => {
      this.#fail(error instanceof Error ? error.message : String(error));
    });
    return this.#last;
  }

  async #begin(): Promise<void> {
    if (!this.hooks.isEnabled()) {
      this.hooks.show({ kind: "off" });
      return;
    }
    this.hooks.show({ kind: "starting" });
    const found = await this.hooks.find();
    if (isMissing(found)) {
      this.hooks.log(["no samedevice was found:", ...found.reasons].join("\n  "));
      this.hooks.show({ kind: "missing", missing: found });
      return;
    }
    this.hooks.log(`starting ${[found.command, ...found.args].join(" ")} (${found.origin})`);
    const client = this.hooks.makeClient(found, (why) => {
      if (this.#client === client) {
        this.#client = undefined;
        this.#fail(why);
      }
    });
    this.#client = client;
    try {
      await client.start();
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
    if (this.#client === client) {
      this.hooks.show({ kind: "running", server: found });
    }
  }

  async #end(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) {
      this.hooks.show({ kind: "off" });
      await client.stop().catch((error: unknown) => this.hooks.log(`while stopping: ${String(error)}`));
    }
  }

  #fail(why: string): void {
    this.hooks.log(why);
    this.hooks.show({ kind: "failed", why });
  }
}
