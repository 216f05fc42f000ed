import type { Exchange, FullReply } from "../exchange.ts";
import { isLocalRequest } from "../operator/local-request.ts";
import type { ConsoleFiles } from "./console-files.ts";
import { consolePage, fileReply, plainPage } from "./console-page.ts";

/** Answers `GET` requests for which no other route exists. */
export interface BrowserPages {
  /** `undefined`: not a page; the request gets the answer that it would get without the console. */
  answer(exchange: Exchange): FullReply | undefined;
}

export interface BrowserPagesOptions {
  /** `undefined`: the console is not built. */
  readonly files: () => ConsoleFiles | undefined;
  /** Ids of the agents that browsers may open. */
  readonly agents: readonly string[];
  /** Whether the console is shown to other machines too: the operator API has a policy for them. */
  readonly isRemote: boolean;
  /** The URL of the agent that the console inspects. Absent: it shows the agents of this server. */
  readonly inspects?: string;
}

const BASE = "/console";
const ASSETS = `${BASE}/assets/`;
const REFUSED =
  "The console is shown only on the machine that the server runs on. To open it elsewhere, configure `security` and `operator.policy`.";
const NOT_BUILT = "The console is not built. Run: npm run console";

/** The console at `/console`. Browsers that open the server or an agent are sent there; other programs are not. */
export function createBrowserPages({ files, agents, isRemote, inspects }: BrowserPagesOptions): BrowserPages {
  const known = new Set(agents);
  return {
    answer(exchange) {
      const path = pathOf(exchange.target);
      if (path !== BASE && !path.startsWith(`${BASE}/`))
        return isShown(exchange) ? redirect(exchange, path) : undefined;
      if (!isShown(exchange)) return plainPage(403, REFUSED);
      const built = files();
      if (built === undefined) return plainPage(503, NOT_BUILT);
      if (path.startsWith(ASSETS)) {
        const file = built.files.get(path.slice(ASSETS.length));
        return file === undefined
          ? plainPage(404, "This file does not exist.")
          : fileReply(file, acceptsGzip(exchange));
      }
      const page = inspects === undefined ? pageOf(path) : undefined;
      return consolePage(built, { place: placeFrom(path), inspects, page });
    },
  };

  function isShown(exchange: Exchange): boolean {
    return isRemote || isLocalRequest(exchange);
  }

  function redirect(exchange: Exchange, path: string): FullReply | undefined {
    const agent = /^\/agents\/([^/]+)\/?$/.exec(path)?.[1];
    if (path !== "/" && (agent === undefined || !known.has(agent))) return undefined;
    if (!/\btext\/html\b/i.test(exchange.header("accept") ?? "")) return undefined;
    // Relative, because the server may be mounted below a path that it does not know.
    const up = "../".repeat(path.split("/").length - 2);
    const location = `${up}console/${agent === undefined ? "" : `agents/${agent}`}`;
    return { status: 302, headers: { location, vary: "Accept", "cache-control": "no-cache" }, body: "" };
  }
}

/** The path without its query. */
function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

/** The name of the page at a path of the console; `undefined`: the first page, or none. */
function pageOf(path: string): string | undefined {
  const [place = "", id = "", view] = path.slice(BASE.length + 1).split("/");
  if (place === "agents" && id !== "") return view === "chat" ? "chat-page" : "agent-page";
  if (place === "tasks") return id === "" ? "tasks-page" : "task-page";
  return ["inbox", "webhooks", "server"].includes(place) ? `${place}-page` : undefined;
}

/** The relative URL of the folder `/console/`, seen from a page below it. */
function placeFrom(path: string): string {
  const below = path.split("/").length - 3;
  return below < 0 ? "console/" : "../".repeat(below) || "./";
}

function acceptsGzip(exchange: Exchange): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(exchange.header("accept-encoding") ?? "");
}
