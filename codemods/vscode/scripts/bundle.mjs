// Puts samedevice and what it needs into bundled/cp310 ... cp313, for the platform of this machine:
// libcst is compiled, so that each version of Python needs its own. Then `npm run package -- --target
// linux-x64` makes an extension that brings its server. Without this the extension brings none.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const VERSIONS = ["3.10", "3.11", "3.12", "3.13"];
const python = process.env.PYTHON ?? "python3";
const run = (...args) => execFileSync(python, ["-m", "pip", ...args], { stdio: "inherit" });

const folder = mkdtempSync(path.join(tmpdir(), "samedevice-"));
try {
  run("wheel", "--quiet", "--no-deps", "--wheel-dir", folder, "../..");
  const wheel = path.join(folder, readdirSync(folder).find((name) => name.endsWith(".whl")));
  rmSync("bundled", { recursive: true, force: true });
  for (const version of VERSIONS) {
    const target = path.join("bundled", `cp${version.replace(".", "")}`);
    run(
      ...["install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target", target],
      ...["--python-version", version, "--only-binary", ":all:"],
      `samedevice[server] @ file://${wheel}`,
    );
    rmSync(path.join(target, "bin"), { recursive: true, force: true });
    for (const name of readdirSync(target, { recursive: true })) {
      if (/[\\/]tests?$/.test(name)) {
        rmSync(path.join(target, name), { recursive: true, force: true });
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
