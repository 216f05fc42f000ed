import { readFile } from "node:fs/promises";
import type { AgentClient } from "../../client/api.ts";
import { connect } from "../../client/connect.ts";
import { chooseInterface } from "../../client/discovery/choose-interface.ts";
import { type Discovered, discover } from "../../client/discovery/discover.ts";
import { RemoteError } from "../../client/http/errors.ts";
import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import { CliError } from "../cli-error.ts";
import type { AgentReference } from "../options/agent-reference.ts";
import type { Connect, ConnectRequest, ReadCard } from "./connect.ts";

/** Keeps the card's order. */
const ANY_VERSION = "any";

/** Connects commands to agents with the client library. */
export const remoteConnect: Connect = Object.assign(connectTo, { readCard });

/** Without a requested version, only the interfaces of the newest one are offered to `connect`, whatever their place in the card. */
async function connectTo(request: ConnectRequest): Promise<AgentClient> {
  const { version, bindings, headers, credentials, send, pollInterval, signal } = request;
  const { card } = await find(request);
  const isAny = version?.toLowerCase() === ANY_VERSION;
  const offered = version === undefined ? newestOf(card) : card;
  const agent = await connect(offered, {
    send,
    headers,
    signal,
    // Naming gRPC allows it although it bypasses `send`, which here only writes a debug log.
    prefer: offersOnlyGrpc(offered) ? [...bindings, GRPC] : bindings,
    ...(version !== undefined && !isAny && { version }),
    ...(credentials !== undefined && { credentials }),
    retry: { attempts: 3, baseDelay: 250 },
    poll: { first: pollInterval, most: pollInterval * 5 },
  });
  // Commands show the whole card, not the filtered one.
  return { ...agent, card };
}

const GRPC = "GRPC";

function offersOnlyGrpc({ interfaces }: AgentCard): boolean {
  return interfaces.every(({ binding }) => binding.toUpperCase() === GRPC);
}

/** The card with only the interfaces of its newest version. */
function newestOf(card: AgentCard): AgentCard {
  const usable = chooseInterface(card);
  const newest = Math.max(...usable.map(versionNumber));
  return { ...card, interfaces: usable.filter((way) => versionNumber(way) === newest) };
}

function versionNumber({ binding, protocolVersion }: AgentInterface): number {
  // The versions of bindings with a URI, such as the plain dialect, are not protocol versions.
  if (binding.includes(":")) return 0;
  const [major = 0, minor = 0] = protocolVersion.split(".").map(Number);
  return major * 1000 + minor;
}

/** The problems of a card, also of one that cannot be used at all. Empty: the card is valid. */
async function readCard(request: ConnectRequest): Promise<ReadCard> {
  try {
    const { warnings } = await find(request);
    return { problems: warnings.map(({ field, description }) => `${field} ${description}`) };
  } catch (error) {
    if (!(error instanceof RemoteError) || error.code !== "invalid-card") throw error;
    const problems = error.violations.map(({ field, description }) => `${field} ${description}`);
    return { problems: problems.length === 0 ? [error.message] : problems };
  }
}

/** Reads the card without credentials. */
async function find({ reference, headers, send, signal }: ConnectRequest): Promise<Discovered> {
  if (reference.kind === "url") return discover(reference.url, { headers, send, signal });
  return discover(await cardIn(reference));
}

async function cardIn({ path }: Extract<AgentReference, { kind: "file" }>): Promise<object> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    throw new CliError("A2ACLI_ERR_CARD_NOT_FOUND", `The file ${path} does not exist or cannot be read.`, {
      hint: "To call a server, give its host or URL: -a agents.example.org or -a http://127.0.0.1:3000",
      cause: error,
    });
  });
  try {
    const card: unknown = JSON.parse(text);
    if (typeof card === "object" && card !== null && !Array.isArray(card)) return card;
  } catch {
    // Reported below.
  }
  throw new CliError("A2ACLI_ERR_CARD_INVALID", `${path} does not contain a JSON object.`);
}
