/**
 * Takes a picture of JupyterLab with the configuration of docs/editors.md and the real server.
 *
 *   npm install --prefix TOOLS playwright-core
 *   python -m venv ENVIRONMENT && ENVIRONMENT/bin/pip install jupyterlab jupyterlab-lsp 'samedevice[server]'
 *   node docs/proof/editor/record_jupyter.mjs TOOLS ENVIRONMENT [CHROMIUM]
 *
 * Waits for the finding in its cell and for the hover, or fails.
 */

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import * as path from "node:path";

const HERE = import.meta.dirname;
const [tools, environment, browserPath = "/usr/bin/chromium"] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(tools, "any.js"))("playwright-core");
const PATIENCE = 90_000; // ms: the machine may be busy

const CELLS = [
  'import torch\nfrom torch import nn\n\ndevice = torch.device("cuda" if torch.cuda.is_available() else "cpu")\nmodel = nn.Linear(3, 2).to(device)',
  "weights = torch.ones(4, 3)\nprint(weights.mean())",
  "%matplotlib inline\nout = model(weights)\nout.sum().backward()",
];

const scratch = mkdtempSync(path.join(tmpdir(), "samedevice-jupyter-"));
const work = path.join(scratch, "work");
mkdirSync(path.join(scratch, ".jupyter"));
mkdirSync(work);
const docs = readFileSync(path.join(HERE, "../../editors.md"), "utf8");
const settings = docs.split("<!-- jupyterlab -->")[1].split("```json\n")[1].split("```")[0];
writeFileSync(path.join(scratch, ".jupyter", "jupyter_server_config.json"), settings);
const kernel = { name: "python3", display_name: "Python 3", language: "python" };
const cell = (source, index) => ({ cell_type: "code", id: `c${index}`, source, metadata: {}, outputs: [], execution_count: null });
const language = { name: "python", mimetype: "text/x-python", file_extension: ".py" };
writeFileSync(
  path.join(work, "rings.ipynb"),
  JSON.stringify({
    cells: CELLS.map(cell),
    metadata: { kernelspec: kernel, language_info: language },
    nbformat: 4,
    nbformat_minor: 5,
  }),
);

const port = await new Promise((resolve) => {
  const server = createServer();
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});
const bin = path.join(path.resolve(environment), "bin");
const jupyter = spawn(
  path.join(bin, "jupyter-lab"),
  ["--no-browser", "--allow-root", "--ip=127.0.0.1", `--port=${port}`, "--IdentityProvider.token=", "--LabApp.news_url=None"],
  { cwd: work, env: { ...process.env, HOME: scratch, PATH: `${bin}${path.delimiter}${process.env.PATH}` }, stdio: "ignore" },
);
let browser;

try {
  browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1000, height: 560 } });
  page.setDefaultTimeout(PATIENCE);
  for (let tries = 0; ; tries++) {
    try {
      await page.goto(`http://127.0.0.1:${port}/lab/tree/rings.ipynb`);
      break;
    } catch (error) {
      if (tries === 60) throw error;
      await page.waitForTimeout(1000);
    }
  }
  const found = page.locator(".jp-Notebook .cm-lintRange, .jp-Notebook .cm-lsp-diagnostic").first();
  await found.waitFor();
  await page.keyboard.press("Control+b"); // without the list of files
  await page.locator(".jp-Notification-Toast-Close, .Toastify__close-button, [title='Hide notification']").first().click({ timeout: 5_000 }).catch(() => {});
  const box = await found.boundingBox();
  for (let tries = 0; ; tries++) {
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + (tries % 2));
    try {
      await page.locator(".cm-tooltip-lint, .cm-diagnostic").first().waitFor({ timeout: 5_000 });
      break;
    } catch (error) {
      if (tries === 6) throw error;
      await page.mouse.move(5, 300);
    }
  }
  await page.waitForTimeout(1000);
  await page.screenshot({ path: path.join(HERE, "7-jupyterlab.png") });
} catch (error) {
  const page = browser?.contexts()[0]?.pages()[0];
  await page?.screenshot({ path: path.join(tmpdir(), "samedevice-jupyter-failed.png") });
  throw error;
} finally {
  await browser?.close();
  jupyter.kill();
  rmSync(scratch, { recursive: true, force: true });
}
