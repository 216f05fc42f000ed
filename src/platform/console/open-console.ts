import { randomBytes } from "node:crypto";
import type { Agent } from "../../engine/agent/agent.ts";
import type { Security } from "../../server/security.ts";
import { type BrowserPages, createBrowserPages } from "../../transport/console/browser-pages.ts";
import { type ConsoleSessions, createConsoleSessions } from "../../transport/console/console-sessions.ts";
import type { Settings } from "../settings/settings.ts";
import { createConsoleLoader } from "./load-console.ts";

export interface OpenConsoleOptions {
  readonly settings: Settings;
  readonly agents: readonly Agent[];
  /** Signs the sessions of pages. Absent: a random key, so open pages must sign in again after a restart. */
  readonly operatorToken: string | undefined;
  readonly security: Security | undefined;
}

/** The parts of the console that run in the server. */
export interface Console {
  readonly pages: BrowserPages;
  readonly sessions: ConsoleSessions;
}

/** `undefined`: the console is turned off. */
export function openConsole({ settings, agents, operatorToken, security }: OpenConsoleOptions): Console | undefined {
  const { console, operator } = settings.observe;
  if (!console) return undefined;
  return {
    pages: createBrowserPages({
      files: createConsoleLoader(),
      agents: agents.map(({ id }) => id),
      isRemote: security !== undefined && operator?.policy !== undefined,
    }),
    sessions: createConsoleSessions({ secret: operatorToken ?? randomBytes(32).toString("base64url") }),
  };
}
