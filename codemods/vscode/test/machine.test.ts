import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { QUESTION } from "../src/find";
import { machine } from "../src/machine";

describe("machine", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "samedevice-"));
  const real = machine(folder);
  const node = process.execPath;

  after(() => rmSync(folder, { recursive: true }));

  it("tells files from folders", () => {
    assert.deepEqual([real.isFile(node), real.isFolder(node)], [true, false]);
    assert.deepEqual([real.isFile(folder), real.isFolder(folder)], [false, true]);
    assert.ok(!real.isFile(path.join(folder, "none")));
  });

  it("finds what is on PATH", () => {
    const before = process.env["PATH"];
    process.env["PATH"] = `${folder}${path.delimiter}${path.dirname(node)}`;
    try {
      assert.equal(real.onPath("node"), path.join(path.dirname(node), path.basename(node)));
      assert.equal(real.onPath("no-such-program"), undefined);
    } finally {
      process.env["PATH"] = before;
    }
  });

  it("runs commands, and tells a failure from an answer", async () => {
    const print = [node, "-e", "process.stdout.write(process.env.ANSWER + process.cwd())"];
    assert.match((await real.output(print, { ANSWER: "yes" })) ?? "", /^yes.*samedevice-/);
    assert.equal(await real.output([node, "-e", "process.exit(3)"], {}), undefined);
    assert.equal(await real.output([path.join(folder, "none")], {}), undefined);
  });

  it("asks a real Python, which has no module named like one of the project", async function () {
    const python = real.onPath("python3");
    if (python === undefined) {
      this.skip();
    }
    this.timeout(30_000);
    writeFileSync(path.join(folder, "samedevice.py"), "__version__ = 'the one in PYTHONPATH'\n");
    const printed = await real.output([python, "-c", QUESTION], { PYTHONPATH: folder });
    const answer = JSON.parse(printed ?? "") as Record<string, string>;
    assert.match(answer["python"] ?? "", /^cp3\d+$/);
    assert.equal(answer["version"], "the one in PYTHONPATH");
    assert.match(answer["missing"] ?? "", /samedevice/);
  });
});
