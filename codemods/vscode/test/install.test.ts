import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { installer } from "../src/install";
import { machine } from "../src/machine";

const WHEEL = "samedevice-1.2.3-py3-none-any.whl";

describe("installer", () => {
  let folder: string;
  let wheels: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "samedevice "));
    wheels = path.join(folder, "wheel");
    mkdirSync(wheels);
    writeFileSync(path.join(wheels, WHEEL), "");
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function asked(pip: string | undefined, uv: string | undefined) {
    const output = async () => pip;
    return installer("python", wheels, { ...machine(folder), output, onPath: () => uv });
  }

  it("takes pip, else uv, else says that there is neither", async () => {
    const escaped = wheels.split(path.sep).join("/").replaceAll(" ", "%20");
    const file = `samedevice[server] @ file://${escaped.startsWith("/") ? "" : "/"}${escaped}/${WHEEL}`;
    assert.deepEqual(await asked("pip 25", "uv"), { command: "python", args: ["-m", "pip", "install", file] });
    const args = ["pip", "install", "--python", "python", file];
    assert.deepEqual(await asked(undefined, "uv"), { command: "uv", args });
    assert.deepEqual(await asked(undefined, undefined), { reason: "python has no pip, and there is no uv on PATH" });
  });

  it("says that there is nothing to install", async () => {
    rmSync(path.join(wheels, WHEEL));
    assert.match(JSON.stringify(await asked("pip 25", "uv")), /without its wheel/);
    rmSync(wheels, { recursive: true });
    assert.match(JSON.stringify(await asked("pip 25", "uv")), /without its wheel/);
  });
});
