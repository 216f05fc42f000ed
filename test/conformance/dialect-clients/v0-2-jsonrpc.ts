import type { Caller, CallerOptions, DialectClient, Outcome, Rules } from "../dialect-client.ts";
import { exchange, typeOf } from "../http.ts";
import type { Fields } from "../neutral.ts";
import { type Refusal, type RefusalName, refusalByCode } from "../refusals.ts";
import { asObject, wrong } from "../strict.ts";
import { headersOf } from "./rest-client.ts";
import { createCaller, readPushed } from "./v0-3-jsonrpc.ts";
import { RULES_0_3, readNumberedError } from "./v0-3-shapes.ts";

const RULES: Rules = { ...RULES_0_3, namesTasks: "may", deniedExtendedCard: "PermissionDenied" };

/** JSON-RPC 0.2. Without a stated version its requests would be treated as 0.3. */
export const jsonRpc0_2: DialectClient = {
  dialect: "0.2/jsonrpc",
  version: "0.2",
  binding: "jsonrpc",
  rules: RULES,
  readPushed,
  at: callerAt,
};

function callerAt(address: string, callerOptions: CallerOptions = {}): Caller {
  const headers = headersOf(callerOptions, "0.2", RULES.extensionsHeader);
  return {
    ...createCaller(address, callerOptions, { claim: "0.2", readError }),
    extendedCard: () => fetchExtendedCard(address, headers),
  };
}

/** These errors have a code in 0.3 or 1.0, but not in 0.2. */
const LATER: readonly RefusalName[] = ["ExtendedCardNotConfigured", "ExtensionSupportRequired", "VersionNotSupported"];

function readError(value: unknown): Refusal {
  return readNumberedError(value, (code) => {
    const name = refusalByCode(code);
    return name === undefined || LATER.includes(name) ? undefined : name;
  });
}

/** A separate HTTP request next to the JSON-RPC address; the HTTP status is the only error information. */
async function fetchExtendedCard(address: string, headers: Readonly<Record<string, string>>): Promise<Outcome<Fields>> {
  const url = new URL("../agent/authenticatedExtendedCard", `${address}/a2a/`).href;
  const http = await exchange({ method: "GET", url, headers });
  if (typeOf(http) !== "application/json") wrong("content-type", "must be application/json", typeOf(http));
  const body = asObject(JSON.parse(http.text), "body");
  if (http.status === 200) return { ok: true, value: body, http };
  const name = CARD_REFUSALS.get(http.status) ?? wrong("HTTP status", "is none of those", http.status);
  return { ok: false, refusal: { name, message: "", facts: body, fields: [] }, http };
}

const CARD_REFUSALS: ReadonlyMap<number, RefusalName> = new Map([
  [401, "Unauthenticated"],
  [403, "PermissionDenied"],
  [404, "ExtendedCardNotConfigured"],
]);
