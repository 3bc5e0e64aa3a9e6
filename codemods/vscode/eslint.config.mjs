import js from "@eslint/js";
import { defineConfig } from "eslint/config";
import ts from "typescript-eslint";

export default defineConfig(
  { extends: [js.configs.recommended, ts.configs.recommendedTypeChecked], languageOptions: { parserOptions: { projectService: true } } },
  { files: ["scripts/*.mjs"], extends: [ts.configs.disableTypeChecked], languageOptions: { globals: { process: "readonly" } } },
  // the stubs of VS Code are asynchronous where VS Code is
  { files: ["test/*.ts"], rules: { "@typescript-eslint/require-await": "off" } },
);
