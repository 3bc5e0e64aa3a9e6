/** A VS Code in a browser (code-server) with the packaged extension, and hands to work in it. */

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const PATIENCE = 60_000; // ms: the machine may be busy

/** What no session needs and what would be in its pictures. */
const QUIET = {
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.colorTheme": "Default Light Modern",
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "editor.minimap.enabled": false,
  "editor.hover.delay": 200,
  "git.enabled": false,
  "files.exclude": { "**/.venv": true, "**/.vscode": true, "**/__pycache__": true },
  "files.autoSave": "off",
};

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Opens `project` for a user who has set `settings`. `tools` is where npm has installed code-server,
 * playwright-core and node; what the editor writes lies in `scratch`. `close` ends it.
 */
export async function openCode({ tools, browserPath, scratch, project, settings }) {
  const { chromium } = createRequire(path.resolve(tools, "any.js"))("playwright-core");
  const entry = path.resolve(tools, "node_modules/code-server/out/node/entry.js");
  const node = path.resolve(tools, "node_modules/node/bin/node");
  const user = path.join(scratch, "user");
  const data = ["--user-data-dir", user, "--extensions-dir", path.join(scratch, "ext")];
  const vsix = path.join(ROOT, "codemods/vscode/samedevice.vsix");
  const env = { ...process.env, XDG_CONFIG_HOME: path.join(scratch, "config"), XDG_DATA_HOME: path.join(scratch, "share") };
  mkdirSync(path.join(user, "User"), { recursive: true });
  writeFileSync(path.join(user, "User", "settings.json"), JSON.stringify({ ...QUIET, ...settings }));
  execFileSync(node, [entry, ...data, "--install-extension", vsix], { env });
  const words = execFileSync(node, [entry, "--version"], { encoding: "utf8", env }).trim().split(" ");
  const port = await freePort();
  const address = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`];
  const server = spawn(node, [entry, ...data, ...address, "--disable-telemetry", "--disable-update-check"], { env, stdio: "ignore" });
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  const close = async () => {
    await browser.close();
    server.kill();
  };
  const page = await browser.newPage({ viewport: { width: 1180, height: 740 } });
  page.setDefaultTimeout(PATIENCE);
  try {
    for (let tries = 0; ; tries++) {
      try {
        await page.goto(`http://127.0.0.1:${port}/?folder=${project}`, { timeout: PATIENCE });
        break;
      } catch (error) {
        if (tries === 60) throw error;
        await page.waitForTimeout(1000);
      }
    }
    await page.waitForSelector(".monaco-workbench");
    await page.waitForSelector('.explorer-folders-view [aria-label*=".py"]');
  } catch (error) {
    await close();
    throw error;
  }

  return {
    page,
    versions: `code-server ${words[0]}, Code ${words.at(-1)}`,
    /** Runs a command by its name in the palette. */
    async command(name) {
      await page.keyboard.press("F1");
      await page.waitForSelector(".quick-input-widget input");
      await page.keyboard.type(name, { delay: 15 });
      await page.locator(".quick-input-list .monaco-list-row", { hasText: name.split(": ").pop() }).first().click();
    },
    async open(name) {
      await page.locator(`.explorer-folders-view [aria-label^="${name}"]`).first().dblclick();
      await page.waitForSelector(`.tab.active[data-resource-name="${name}"]`);
      await page.waitForSelector(".editor-instance .view-line");
    },
    /** The first line in the editor that has `text`. */
    line: (text) => page.locator(".editor-instance .view-line", { hasText: text }).first(),
    /** A picture of the window as it failed, where the next one looks for it. */
    picture: () => page.screenshot({ path: path.join(tmpdir(), "samedevice-editor-failed.png") }).catch(() => {}),
    close,
  };
}
