/** What the status item says of a state. */

import type { Origin } from "./find";
import type { State } from "./session";

export interface Shown {
  text: string;
  detail: string;
  severity: "information" | "warning" | "error";
  busy: boolean;
  /** The command that is offered beside the text. */
  command: { command: string; title: string } | undefined;
}

const ORIGINS: Record<Origin, string> = {
  setting: "from samedevice.path",
  environment: "from the environment",
  bundled: "bundled",
  path: "from PATH",
};

const LOG = { command: "samedevice.showLog", title: "Show Log" };
const RESTART = { command: "samedevice.restart", title: "Restart" };
const INSTALL = { command: "samedevice.install", title: "Install" };

export function shown(state: State): Shown {
  const base = { severity: "information", busy: false, command: undefined } as const;
  switch (state.kind) {
    case "off":
      return { ...base, text: "samedevice", detail: "off", command: RESTART };
    case "starting":
      return { ...base, text: "samedevice", detail: "starting", busy: true };
    case "running": {
      const { version, origin } = state.server;
      return { ...base, text: `samedevice ${version}`, detail: ORIGINS[origin], command: LOG };
    }
    case "missing": {
      const command = state.missing.interpreter === undefined ? LOG : INSTALL;
      return { ...base, text: "samedevice", detail: "not found", severity: "warning", command };
    }
    case "failed":
      return { ...base, text: "samedevice", detail: state.why, severity: "error", command: LOG };
  }
}
