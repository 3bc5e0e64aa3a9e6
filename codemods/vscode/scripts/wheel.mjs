// Makes the wheel of samedevice that the extension installs where there is none: wheel/samedevice-*.whl.

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";

const python = process.env.PYTHON ?? "python3";
const wheel = ["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"];

rmSync("wheel", { recursive: true, force: true });
execFileSync(python, [...wheel, "--wheel-dir", "wheel", "../.."], { stdio: "inherit" });
