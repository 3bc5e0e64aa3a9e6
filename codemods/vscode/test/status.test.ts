import assert from "node:assert/strict";
import type { Server } from "../src/find";
import { shown } from "../src/status";

describe("shown", () => {
  it("names the version and where it is from", () => {
    const server: Server = { command: "py", args: [], env: {}, version: "1.2", origin: "bundled" };
    const { text, detail, severity } = shown({ kind: "running", server });
    assert.deepEqual([text, detail, severity], ["samedevice 1.2", "bundled", "information"]);
  });

  it("offers to install where there is a Python to install for", () => {
    const command = (interpreter: string | undefined) =>
      shown({ kind: "missing", missing: { reasons: [], interpreter } }).command?.command;
    assert.equal(command("/env/python"), "samedevice.install");
    assert.equal(command(undefined), "samedevice.showLog");
  });

  it("is busy only while it starts, and an error only when it failed", () => {
    assert.ok(shown({ kind: "starting" }).busy);
    assert.ok(!shown({ kind: "off" }).busy);
    assert.deepEqual(shown({ kind: "failed", why: "gone" }), {
      text: "samedevice",
      detail: "gone",
      severity: "error",
      busy: false,
      command: { command: "samedevice.showLog", title: "Show Log" },
    });
  });
});
