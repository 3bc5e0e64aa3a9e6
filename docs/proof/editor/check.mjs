/**
 * Tries what the session of record.mjs does not: settings, the installation, the code action that
 * centralizes, a notebook. For TOOLS and CHROMIUM see record.mjs.
 *
 *   node docs/proof/editor/check.mjs TOOLS PYTHON [CHROMIUM]
 *
 * PYTHON makes the project's environment, which has no samedevice before the extension installs it.
 * Each step waits for what it should bring, or fails. Writes ../editor_clients.md.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { openCode } from "./code.mjs";

const HERE = import.meta.dirname;
const [tools, python, browserPath = "/usr/bin/chromium"] = process.argv.slice(2);

const scratch = mkdtempSync(path.join(tmpdir(), "samedevice-editor-"));
const project = path.join(scratch, "rings");
const rows = [];

cpSync(path.join(HERE, "project"), project, { recursive: true });
mkdirSync(path.join(project, ".vscode"));
execFileSync(python, ["-m", "venv", path.join(project, ".venv")]);

const read = (name) => readFileSync(path.join(project, name), "utf8");
const saw = (did, seen) => rows.push(`| ${did} | ${seen} |`);

/** Sets what the project's settings.json has. */
const set = (settings) => writeFileSync(path.join(project, ".vscode", "settings.json"), JSON.stringify(settings));

const code = await openCode({ tools, browserPath, scratch, project, settings: {} });
const { page, command, open, line } = code;
const dialog = page.locator(".monaco-dialog-box");

/** Waits until the panel of problems has these rules, by file. */
async function problems(wanted) {
  let found;
  for (let tries = 0; tries < 60; tries++) {
    found = {};
    let file;
    for (const row of await page.locator(".markers-panel .monaco-list-row").allInnerTexts()) {
      const name = /^([\w-]+\.(?:py|ipynb))\n\d+$/.exec(row);
      const rule = /\nsamedevice\n([\w-]+)\n/.exec(row);
      if (name) found[(file = name[1])] = [];
      if (rule) found[file]?.push(rule[1]);
    }
    try {
      assert.deepEqual(found, wanted);
      return;
    } catch {
      await page.waitForTimeout(500);
    }
  }
  assert.deepEqual(found, wanted);
}

const CELLS = [
  'import torch\n\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\nmodel = torch.nn.Linear(3, 2).to(device)',
  "weights = torch.ones(4, 3)\nprint(weights.mean())",
  "%matplotlib inline\nout = model(weights)\nother = torch.zeros(2).cuda()",
];

/** Writes a notebook with code in three cells and words in a fourth. */
function notebook() {
  const code = (source, index) => ({ cell_type: "code", id: `c${index}`, source, metadata: {}, outputs: [], execution_count: null });
  const cells = CELLS.map(code).toSpliced(1, 0, { cell_type: "markdown", id: "words", source: "# Weights", metadata: {} });
  const metadata = { kernelspec: { name: "python3", display_name: "Python 3", language: "python" }, language_info: { name: "python" } };
  writeFileSync(path.join(project, "book.ipynb"), JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }));
}

/** Waits until the notebook on the disk, its editor or another text does what it should. */
async function until(fits) {
  for (let tries = 0; !(await fits()); tries++) {
    assert.ok(tries < 60, `still not so: ${fits}`);
    await page.waitForTimeout(500);
  }
}

const saved = () => JSON.parse(read("book.ipynb")).cells.flatMap((cell) => cell.source).join("");
const FIXES = ["torch.ones(4, 3, device=device)", "torch.zeros(2).to(device)"];
const isFixed = (text) => FIXES.every((fix) => text.split(fix).length === 2);
const cell = (text) => page.locator(".notebookOverlay .view-line", { hasText: text }).first();
const shown = async () => (await page.locator(".notebookOverlay .view-line").allInnerTexts()).join("\n").replaceAll("\u00a0", " ");
const underlined = () => page.locator(".notebookOverlay .squiggly-warning").count();

async function openNotebook() {
  await page.locator('.explorer-folders-view [aria-label^="book.ipynb"]').first().dblclick();
  await page.waitForSelector(".notebookOverlay .view-line");
}

const DATA = ["tensor-without-device"];
const EVALUATE = ["hard-coded-device", "load-without-map-location", "hard-coded-device"];

try {
  await open("data.py");
  await page.locator('[id*="languageStatus"]').first().hover();
  await page.locator("a", { hasText: /^Install$/ }).first().click();
  const asked = await dialog.innerText();
  assert.match(asked, /python -m pip install samedevice\[server\] @ file:.*samedevice-.*\.whl/);
  await dialog.locator(".monaco-button", { hasText: "Install" }).click();
  await page.waitForSelector(".squiggly-warning", { timeout: 300_000 });
  saw("*Install* of the status item, in an environment without samedevice", "a question with the command; pip in a terminal, from the wheel of the extension; then the server starts and the finding is underlined");

  await open("evaluate.py");
  await command("View: Toggle Problems");
  await problems({ "data.py": DATA, "evaluate.py": EVALUATE });
  set({ "samedevice.select": ["hard-coded-device"] });
  await problems({ "evaluate.py": EVALUATE.filter((rule) => rule === "hard-coded-device") });
  saw('`"samedevice.select": ["hard-coded-device"]`, while both files are open', "only its findings are left, at once");
  set({ "samedevice.ignore": ["hard-coded-device"] });
  await problems({ "data.py": DATA, "evaluate.py": ["load-without-map-location"] });
  saw('`"samedevice.ignore": ["hard-coded-device"]` instead', "all findings but its own");
  set({ "samedevice.ignore": ["hard-coded"] });
  await problems({});
  await command("Notifications: Show Notifications"); // where it stays when it is shown no more
  const complaint = await page.locator(".notifications-center .notification-list-item").first().innerText();
  assert.match(complaint, /there is no rule hard-coded/);
  saw('`"samedevice.ignore": ["hard-coded"]`, which is no rule', `no findings, and a message: *${complaint.split("\n")[0].trim()}*`);
  await page.keyboard.press("Escape");
  set({});
  await problems({ "data.py": DATA, "evaluate.py": EVALUATE });
  saw("neither", "all findings again");

  await line("torch.load").click();
  await command("Source Action...");
  await page.locator(".action-widget .monaco-list-row", { hasText: "Centralize" }).click();
  await dialog.waitFor();
  await dialog.locator(".monaco-button", { hasText: "Choose in a Preview" }).click();
  const boxes = page.locator(".bulk-edit-panel .monaco-list-row input[type=checkbox], .bulk-edit-panel .monaco-list-row .monaco-custom-toggle");
  await boxes.first().waitFor();
  const ticked = await boxes.evaluateAll((all) => all.filter((one) => one.checked || one.classList.contains("checked")).length);
  const all = await boxes.count();
  saw("*Source Action...*, *Centralize the device of this project*, *Choose in a Preview*", `${all} boxes, ${ticked} of them ticked`);
  await page.locator(".monaco-button", { hasText: "Discard" }).first().click();
  await page.waitForTimeout(1500);
  assert.equal(await page.locator(".notifications-toasts .notification-list-item:visible", { hasText: "apply" }).count(), 0);
  saw("*Discard* there", "nothing");
  await line("torch.load").click();
  await command("Source Action...");
  await page.locator(".action-widget .monaco-list-row", { hasText: "Centralize" }).click();
  await dialog.locator(".monaco-button", { hasText: "Apply All" }).click();
  await line("map_location=device").waitFor();
  await command("File: Save All Files");
  await page.keyboard.press("Control+j"); // the panel
  await page.waitForFunction(() => document.querySelector(".tab.dirty") === null);
  assert.match(read("evaluate.py"), /map_location=device/);
  assert.match(read("data.py"), /zeros\(3, device=device\)/);
  saw("the same, *Apply All*", "all edits, also those of files that were not open; nothing is left to find");

  notebook();
  await openNotebook();
  await until(async () => (await underlined()) === 2);
  await page.waitForTimeout(1500); // what fades in
  await page.screenshot({ path: path.join(HERE, "9-notebook.png") });
  saw("a notebook with two findings is opened", "both are underlined, each in its cell ([picture](editor/9-notebook.png))");
  await cell("torch.ones").locator("span", { hasText: "ones" }).last().click();
  await page.keyboard.press("Control+.");
  await page.locator(".action-widget .monaco-list-row", { hasText: "Fix tensor-without-device" }).click();
  await until(async () => (await shown()).includes(FIXES[0]) && (await underlined()) === 1);
  saw("the quick fix in its cell", "`device=device` is written there, and the other finding is left");
  await page.keyboard.press("Control+z");
  await until(async () => (await underlined()) === 2);
  await page.keyboard.press("End");
  await page.keyboard.type("  # é😀");
  await until(async () => (await shown()).includes("# é😀") && (await underlined()) === 2);
  saw("undone, and something typed behind it", "both findings again");
  await command("samedevice: Fix This File");
  await until(async () => isFixed(await shown()) && (await underlined()) === 0);
  assert.match(await shown(), /device=device\)  # é😀/);
  saw("*samedevice: Fix This File*", "both cells are fixed");
  await command("samedevice: Fix This File");
  await page.locator(".notification-list-item", { hasText: "nothing in this notebook can be fixed" }).first().waitFor();
  saw("the same again", "a message that nothing can be fixed");
  await page.keyboard.press("Control+s");
  await until(() => isFixed(saved()));
  await command("View: Close Editor");
  notebook();
  await openNotebook();
  await until(async () => (await underlined()) === 2);
  set({ "notebook.codeActionsOnSave": { "notebook.source.fixAll.samedevice": "explicit" } });
  await page.waitForTimeout(2000);
  await cell("print").click();
  await page.keyboard.press("End");
  await page.keyboard.type("  # saved");
  await page.keyboard.press("Control+s");
  await until(() => isFixed(saved()) && saved().includes("# saved"));
  saw("`notebook.codeActionsOnSave` with `notebook.source.fixAll.samedevice`, something typed, saved", "each finding is fixed once in what is saved");
  await command("View: Close Editor");
  set({});
  notebook();
  await command("View: Toggle Problems");
  await problems({ "book.ipynb": ["tensor-without-device", "hard-coded-device"] });
  await page.keyboard.press("Control+j");
  await command("samedevice: Centralize This Project");
  await dialog.locator(".monaco-button", { hasText: "Apply All" }).click();
  await page.locator(".tab", { hasText: "book" }).first().click();
  await until(async () => isFixed(await shown()));
  await page.keyboard.press("Control+s");
  await until(() => isFixed(saved()));
  saw("*samedevice: Centralize This Project* with the notebook closed", "it is opened and changed; *Save All* leaves out a notebook that was not looked at since");

  writeFileSync(
    path.join(HERE, "..", "editor_clients.md"),
    [
      "# More of the editor",
      `Seen on ${new Date().toISOString().slice(0, 10)} by [editor/check.mjs](editor/check.mjs) in ${code.versions}, Chromium ${page.context().browser().version()}, with the packaged extension, on this project (\`docs/proof/editor/project\`).`,
      ["| done | seen |", "| --- | --- |", ...rows].join("\n"),
    ].join("\n\n") + "\n",
  );
} catch (error) {
  await code.picture();
  throw error;
} finally {
  await code.close();
  rmSync(scratch, { recursive: true, force: true });
}
