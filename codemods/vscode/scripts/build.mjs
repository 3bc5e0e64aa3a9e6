// Bundles the extension into out/extension.js, or the tests into out/test/.

import { copyFile, readdir, rm } from "node:fs/promises";
import { build } from "esbuild";

const tests = process.argv.includes("--tests");
const shared = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  sourcemap: !process.argv.includes("--minify"),
  minify: process.argv.includes("--minify"),
  logLevel: "warning",
};

if (tests) {
  await rm("out/test", { recursive: true, force: true });
  const names = (await readdir("test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...shared,
    entryPoints: names.map((name) => `test/${name}`),
    outdir: "out/test",
    alias: {
      vscode: "./test/vscode.ts",
      "vscode-languageclient/node": "./test/languageclient.ts",
      "@vscode/python-extension": "./test/python.ts",
    },
  });
} else {
  await copyFile("../../LICENSE", "LICENSE");
  await build({
    ...shared,
    entryPoints: ["src/extension.ts"],
    outfile: "out/extension.js",
    external: ["vscode"],
  });
}
