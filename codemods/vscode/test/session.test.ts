import assert from "node:assert/strict";
import type { Missing, Server } from "../src/find";
import { type Client, Session, type State } from "../src/session";

const SERVER: Server = { command: "python", args: [], env: {}, version: "1", origin: "environment" };

class Bench {
  events: string[] = [];
  states: State[] = [];
  enabled = true;
  found: Server | Missing = SERVER;
  failing = false;
  end: (why: string) => void = () => {};
  session = new Session({
    isEnabled: () => this.enabled,
    find: async () => this.found,
    makeClient: (_, onEnd) => {
      this.end = onEnd;
      return this.client();
    },
    show: (state) => this.states.push(state),
    log: (line) => this.events.push(`log: ${line}`),
  });

  client(): Client {
    return {
      start: async () => {
        this.events.push("start");
        await new Promise((resolve) => setImmediate(resolve));
        if (this.failing) {
          throw new Error("spawn failed");
        }
        this.events.push("started");
      },
      stop: async () => {
        this.events.push("stop");
        await new Promise((resolve) => setImmediate(resolve));
        this.events.push("stopped");
      },
      request: async (command, args) => [command, ...args],
    };
  }

  get kinds(): string[] {
    return this.states.map((state) => state.kind);
  }

  get steps(): string[] {
    return this.events.filter((event) => !event.startsWith("log"));
  }
}

describe("Session", () => {
  it("starts what is found", async () => {
    const bench = new Bench();
    await bench.session.restart();
    assert.deepEqual(bench.kinds, ["starting", "running"]);
  });

  it("never has two servers, however often it is restarted", async () => {
    const bench = new Bench();
    await Promise.all([bench.session.restart(), bench.session.restart(), bench.session.stop()]);
    const one = ["start", "started", "stop", "stopped"];
    assert.deepEqual(bench.steps, [...one, ...one]);
    assert.equal(bench.kinds.at(-1), "off");
  });

  it("starts nothing when it is switched off", async () => {
    const bench = new Bench();
    bench.enabled = false;
    await bench.session.restart();
    assert.deepEqual([bench.kinds, bench.steps], [["off"], []]);
  });

  it("logs every reason when nothing is found", async () => {
    const bench = new Bench();
    bench.found = { reasons: ["a: no", "b: no"], interpreter: "python" };
    await bench.session.restart();
    assert.deepEqual(bench.kinds, ["starting", "missing"]);
    assert.deepEqual(bench.events, ["log: no samedevice was found:\n  a: no\n  b: no"]);
  });

  it("shows why a server does not start, and starts the next one", async () => {
    const bench = new Bench();
    bench.failing = true;
    await bench.session.restart();
    assert.deepEqual(bench.states.at(-1), { kind: "failed", why: "spawn failed" });
    bench.failing = false;
    await bench.session.restart();
    assert.equal(bench.kinds.at(-1), "running");
    assert.deepEqual(bench.steps, ["start", "start", "started"]);
  });

  it("shows a server that ended for good, and does not stop it again", async () => {
    const bench = new Bench();
    await bench.session.restart();
    bench.end("the server ended 4 times");
    assert.deepEqual(bench.states.at(-1), { kind: "failed", why: "the server ended 4 times" });
    await bench.session.stop();
    assert.deepEqual(bench.steps, ["start", "started"]);
  });

  it("does not take the end of an old server for that of the new one", async () => {
    const bench = new Bench();
    await bench.session.restart();
    const old = bench.end;
    await bench.session.restart();
    old("too late");
    assert.equal(bench.kinds.at(-1), "running");
  });

  it("passes commands to the server, and says when there is none", async () => {
    const bench = new Bench();
    await assert.rejects(bench.session.request("fix", []), /not running/);
    void bench.session.restart();
    assert.deepEqual(await bench.session.request("fix", [1]), ["fix", 1]);
  });
});
