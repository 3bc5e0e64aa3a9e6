// Puts samedevice and what it needs into bundled/cp310 ... cp313, for the platform of this machine:
// libcst is compiled, so that each version of Python needs its own. Then `npm run package -- --target
// linux-x64` makes an extension that brings its server. Without this the extension brings none.

import { execFileSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const VERSIONS = ["3.10", "3.11", "3.12", "3.13"];
const python = process.env.PYTHON ?? "python3";
const run = (...args) => execFileSync(python, ["-m", "pip", ...args], { stdio: "inherit" });

execFileSync(process.execPath, ["scripts/wheel.mjs"], { stdio: "inherit" });
const wheel = path.resolve("wheel", readdirSync("wheel").find((name) => name.endsWith(".whl")));
rmSync("bundled", { recursive: true, force: true });
for (const version of VERSIONS) {
  const target = path.join("bundled", `cp${version.replace(".", "")}`);
  run(
    ...["install", "--quiet", "--disable-pip-version-check", "--no-compile", "--target", target],
    ...["--python-version", version, "--only-binary", ":all:"],
    `samedevice[server] @ ${pathToFileURL(wheel).href}`,
  );
  rmSync(path.join(target, "bin"), { recursive: true, force: true });
  for (const name of readdirSync(target, { recursive: true })) {
    if (/[\\/]tests?$/.test(name)) {
      rmSync(path.join(target, name), { recursive: true, force: true });
    }
  }
}
