import { A2AError, invalidField } from "../../protocol/error.ts";
import { parseJson, requireJson } from "../body/json-body.ts";
import { readRequestBody } from "../body/request-body.ts";
import type { Exchange, FullReply } from "../exchange.ts";
import { isFromOtherOrigin, isLocalRequest } from "../operator/local-request.ts";
import { privateJson } from "../operator/operator-reply.ts";
import type { TransportEnvironment } from "../options.ts";
import type { ConsoleSessions } from "./console-sessions.ts";

const MAX_BODY = 1024;

/** Exchanges `{ code }` for `{ token, expiresAt }`. Rejects with `permission-denied` for other machines and pages of other origins. */
export async function openSession(
  sessions: ConsoleSessions,
  exchange: Exchange,
  environment: TransportEnvironment,
): Promise<FullReply> {
  if (exchange.method !== "POST") throw new A2AError("method-not-allowed", "This path supports only POST");
  if (isFromOtherOrigin(exchange) || !isLocalRequest(exchange))
    throw new A2AError("permission-denied", "Only pages of this server on this machine may open a session");
  requireJson(exchange);
  const body = parseJson(await readRequestBody(environment, exchange, MAX_BODY));
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : undefined;
  if (typeof code !== "string") throw invalidField("code", "is required");
  const session = sessions.open(code);
  if (session === undefined)
    throw new A2AError(
      "unauthenticated",
      "The code is not valid: open the URL that the server printed when it started",
    );
  return privateJson(201, session);
}
