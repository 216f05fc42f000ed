import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { withoutTrailing } from "../../internal/without-trailing.ts";
import { usageError } from "../cli-error.ts";

/** Where an agent card is: at a URL (of the card or of the agent), or in a file. */
export type AgentReference =
  /** `url` has a path only if it is the URL of a card or of one of several agents. */
  { readonly kind: "url"; readonly url: string } | { readonly kind: "file"; readonly path: string };

/** Hosts without a scheme get `http` if they are on this machine, else `https`. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?=[:/]|$)/i;
const HOST = /^(?:\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)*)(?::\d{1,5})?(?:\/\S*)?$/i;

/**
 * Parses `--agent-card`: `agents.example.org`, `http://127.0.0.1:3000`, the URL of a card, or a file path.
 * `localhost:3000` is `http://localhost:3000/`, `agents.example.org` is `https://agents.example.org/`, `./card.json` is a file.
 * An existing file takes precedence over a host of the same name. Throws a usage error for other schemes and for URLs with a password.
 */
export function agentReference(text: string, cwd: string): AgentReference {
  if (/^file:/i.test(text)) return { kind: "file", path: pathOf(text) };
  if (/^https?:\/\//i.test(text)) return { kind: "url", url: checkedUrl(text) };
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) {
    throw usageError(`An agent card needs an http, https or file URL, not "${text}".`);
  }
  const path = resolve(cwd, text);
  if (isAbsolute(text) || /^\.{1,2}[\\/]/.test(text) || existsSync(path)) return { kind: "file", path };
  // A name that could be a host but ends in `.json` is a missing file.
  if (HOST.test(text) && !/^[^/:]+\.json$/i.test(text)) {
    return { kind: "url", url: checkedUrl(`${LOOPBACK.test(text) ? "http" : "https"}://${text}`) };
  }
  return { kind: "file", path };
}

function checkedUrl(text: string): string {
  if (!URL.canParse(text)) throw usageError(`"${text}" is not a valid URL.`, EXAMPLE);
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw usageError(
      "A URL must not contain a password: it would show up in logs.",
      "Use A2ACLI_BEARER or A2ACLI_API_KEY.",
    );
  }
  return url.href;
}

function pathOf(text: string): string {
  try {
    return fileURLToPath(text);
  } catch {
    throw usageError(`"${text}" is not a file URL of this machine.`, "A file URL looks like file:///home/me/card.json");
  }
}

const EXAMPLE = "For example: http://127.0.0.1:3000 or https://agents.example.org";

/**
 * A canonical key of a reference, for data that is stored per agent: `https://h/x/.well-known/agent-card.json` and `https://h/x/` both give
 * `https://h/x`.
 */
export function referenceKey(reference: AgentReference): string {
  if (reference.kind === "file") return reference.path;
  const { origin, pathname } = new URL(reference.url);
  return origin + withoutTrailing(pathname.replace(/\/\.well-known\/agent(?:-card)?\.json$/, ""), "/");
}
