/**
 * Records a session: the extension in a VS Code that runs in a browser, the real server, one project.
 *
 *   npm install --prefix TOOLS code-server playwright-core node@24
 *   (cd codemods/vscode && npm ci && npm run package)
 *   node docs/proof/editor/record.mjs TOOLS ENVIRONMENT [CHROMIUM]
 *
 * ENVIRONMENT is a virtual environment with samedevice[server] and torch. Writes the pictures beside
 * this file and ../editor_session.md. Each step waits for what it should bring, or fails.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { openCode } from "./code.mjs";

const HERE = import.meta.dirname;
const [tools, environment, browserPath = "/usr/bin/chromium"] = process.argv.slice(2);

const scratch = mkdtempSync(path.join(tmpdir(), "samedevice-editor-"));
const project = path.join(scratch, "rings");
const told = []; // the paragraphs of the page

cpSync(path.join(HERE, "project"), project, { recursive: true });
symlinkSync(path.resolve(environment), path.join(project, ".venv"));
execFileSync("git", ["init", "-q", project]);
execFileSync("git", ["-C", project, "add", "--", "data.py", "evaluate.py", "train.py"]);

/** Runs samedevice in the project and quotes what it prints, up to the line that starts with `until`. */
function terminal(args, wanted, until) {
  const done = spawnSync(path.join(environment, "bin", "samedevice"), args, {
    cwd: project,
    encoding: "utf8",
    env: { ...process.env, COLUMNS: "110", NO_COLOR: "1" },
  });
  if (done.status !== wanted) {
    throw new Error(`samedevice ${args.join(" ")} ended with ${done.status}:\n${done.stdout}${done.stderr}`);
  }
  const said = (done.stdout + done.stderr).replaceAll(project + path.sep, "");
  const text = said.replaceAll(path.resolve(environment), ".venv");
  const lines = text.split("\n").map((line) => line.trimEnd());
  const end = until === undefined ? -1 : lines.findIndex((line) => line.startsWith(until));
  const kept = (end < 0 ? lines : lines.slice(0, end)).join("\n").trim();
  told.push("```console\n$ samedevice " + args.join(" ") + "\n" + kept + "\n```");
}

function git(...args) {
  return execFileSync("git", ["-C", project, ...args], { encoding: "utf8" });
}

let code;

try {
  told.push("The program stops, because two tensors meet on two devices:");
  terminal(["run", "train.py"], 1, "operations ");

  const settings = { "samedevice.inlayHints": "off" };
  code = await openCode({ tools, browserPath, scratch, project, settings });
  const { page, command, open, line } = code;
  const picture = async (name, words) => {
    await page.waitForTimeout(1200); // what fades in
    await page.screenshot({ path: path.join(HERE, `${name}.png`) });
    told.push(words, `![${words.replace(/[`*:]/g, "")}](editor/${name}.png)`);
  };
  const hover = async (where, said) => {
    for (let tries = 0; ; tries++) {
      const box = await where.boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + (tries % 2));
      try {
        await page.locator(".monaco-hover:visible", { hasText: said }).first().waitFor({ timeout: 10_000 });
        return;
      } catch (error) {
        if (tries === 6) throw error;
        await page.mouse.move(5, 5);
      }
    }
  };

  await open("data.py");
  await page.waitForSelector(".squiggly-warning");
  await command("View: Toggle Problems");
  await page.locator(".markers-panel .monaco-list-row", { hasText: "train.py" }).first().waitFor();
  await picture("1-clash", "The editor shows the tensor where it is made, and below it the line of another file where it meets the device:");

  await page.keyboard.press("Control+j"); // the panel, so that the whole file is seen
  await open("train.py");
  await hover(line("cross_entropy").locator("span", { hasText: "weight" }).last(), "data.py");
  await picture("2-hover", "The other way round: the name under the pointer, its place, and how it came there:");
  await page.mouse.move(5, 5);

  await open("data.py");
  await line("torch.zeros(3)").locator("span", { hasText: "zeros" }).last().click();
  await page.keyboard.press("Control+.");
  await page.waitForSelector(".action-widget .monaco-list-row");
  await picture("3-fixes", "`Ctrl+.` offers what can be done:");
  await page.keyboard.press("Enter");
  await line("device=device").waitFor();
  await command("File: Save All Files");
  await page.waitForFunction(() => document.querySelector(".tab.dirty") === null);
  await picture("4-fixed", "The fix is one edit of both files: the tensor is made where the caller wants it.");
  told.push("```diff\n" + git("diff", "--unified=1").trim() + "\n```");
  git("add", "-u");

  mkdirSync(path.join(project, ".vscode"));
  writeFileSync(path.join(project, ".vscode", "settings.json"), '{ "samedevice.inlayHints": "all" }');
  await open("data.py");
  const hints = page.locator(".view-line span", { hasText: ": host" }).first();
  await hints.waitFor({ timeout: 20_000 }).catch(async () => {
    console.error("the settings were followed only after the window was loaded again");
    await page.reload();
    await hints.waitFor();
  });
  await picture("5-inlay-hints", "With `samedevice.inlayHints` set to `all`, the inferred places stand in the code:");

  await command("samedevice: Centralize This Project");
  await page.locator(".monaco-dialog-box .monaco-button", { hasText: "Choose in a Preview" }).click();
  await page.locator(".refactor-preview-panel, .bulk-edit-panel, [id*=refactorPreview]").first().waitFor();
  await picture("6-preview", "*samedevice: Centralize This Project* makes all of its edits at once or, as here, shows them before, also in files that are not open; those that are ticked are made by *Apply*:");
  await page.locator(".bulk-edit-panel .monaco-list-row").first().locator(".edit-checkbox, .monaco-custom-toggle, input").first().click();
  await page.locator(".monaco-button", { hasText: "Apply" }).first().click();
  for (let tries = 0; git("diff", "--", "evaluate.py") === ""; tries++) {
    if (tries === 20) throw new Error("evaluate.py stays as it was");
    await page.waitForTimeout(1000);
    await command("File: Save All Files");
  }
  git("add", "-N", ".");
  told.push("```diff\n" + git("diff", "--unified=1", "--", "*.py").trim() + "\n```");

  told.push("Nothing is left to find, and both programs run:");
  terminal(["check", "."], 0);
  terminal(["run", "train.py"], 0, "operations ");
  terminal(["run", "evaluate.py"], 0, "operations ");

  writeFileSync(
    path.join(HERE, "..", "editor_session.md"),
    [
      "# A session in the editor",
      `Recorded by [editor/record.mjs](editor/record.mjs), which drives a VS Code in a browser (${code.versions}) ` +
        "with the packaged extension and the server of the project's environment, on this project (\`docs/proof/editor/project\`). " +
        "Nothing on this page was written or drawn by hand.",
      ...told,
    ].join("\n\n") + "\n",
  );
} catch (error) {
  await code?.picture();
  throw error;
} finally {
  await code?.close();
  rmSync(scratch, { recursive: true, force: true });
}
