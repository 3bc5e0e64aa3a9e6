/** Stands in for "@vscode/python-extension": one that is not installed until a test sets one. */

export const python = { interpreter: undefined as string | undefined, changed: () => {} };

export const PythonExtension = {
  api: async () => {
    if (python.interpreter === undefined) {
      throw new Error("Python extension is not installed or is disabled");
    }
    return {
      environments: {
        getActiveEnvironmentPath: () => ({ path: python.interpreter }),
        resolveEnvironment: async ({ path }: { path: string }) => ({
          executable: { uri: { fsPath: path } },
        }),
        onDidChangeActiveEnvironmentPath: (listener: () => void) => {
          python.changed = listener;
          return { dispose: () => {} };
        },
      },
    };
  },
};
