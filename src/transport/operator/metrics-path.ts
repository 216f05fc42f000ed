import { A2AError } from "../../protocol/error.ts";
import { PROMETHEUS_TYPE, prometheusText } from "../../telemetry/metrics/prometheus-text.ts";
import type { Registry } from "../../telemetry/metrics/registry.ts";
import type { Exchange, Reply } from "../exchange.ts";
import { pathOf } from "../router.ts";
import { bearerToken, isSameToken } from "./bearer-token.ts";
import { isFromOtherOrigin, isLocalRequest } from "./local-request.ts";
import { errorReply, PRIVATE_HEADERS } from "./operator-reply.ts";
import type { ReservedPaths } from "./reserved-paths.ts";

export interface MetricsPathOptions {
  readonly registry: Registry;
  /** Callers need this token. Absent: only requests from this machine are answered. */
  readonly token?: string | undefined;
}

const PATH = "/metrics";

/** Metrics in the text format of Prometheus at `/metrics`. */
export function createMetricsPath({ registry, token }: MetricsPathOptions): ReservedPaths {
  return {
    accepts: ({ target }) => target.startsWith(PATH) && pathOf(target) === PATH,
    async handle(exchange): Promise<Reply> {
      const refusal = refusalOf(exchange, token);
      if (refusal !== undefined) return errorReply(refusal, refusal.code === "method-not-allowed" ? ALLOW : undefined);
      await registry.refresh();
      const body = prometheusText(registry.read());
      return { status: 200, headers: { ...PRIVATE_HEADERS, "content-type": PROMETHEUS_TYPE }, body };
    },
  };
}

const ALLOW = { allow: "GET, HEAD" };

function refusalOf(exchange: Exchange, token: string | undefined): A2AError | undefined {
  const { fault, method } = exchange;
  if (fault !== undefined) return new A2AError("invalid-request", fault.message);
  if (method !== "GET" && method !== "HEAD")
    return new A2AError("method-not-allowed", "This path supports only GET and HEAD");
  if (isFromOtherOrigin(exchange))
    return new A2AError("permission-denied", "Web pages of other origins may not read metrics");
  if (token !== undefined)
    return isSameToken(bearerToken(exchange), token)
      ? undefined
      : new A2AError("unauthenticated", "Metrics need the token of this server: Authorization: Bearer …");
  if (isLocalRequest(exchange)) return undefined;
  return new A2AError(
    "permission-denied",
    "Metrics are shown only to programs on this machine. To read them from elsewhere, set a token (METRICS_TOKEN).",
  );
}
