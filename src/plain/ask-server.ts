import { REQUIRE_DEFAULT_PROJECT } from "../wire/plain/root-agent.ts";
import { errorOf, ValidationError } from "./errors.ts";
import type { A2AServerDeps } from "./types.ts";

/** Never resolved: the server receives the request directly and uses only the path of its URL. */
export const NOWHERE: string = "http://server.invalid";

/**
 * Sends a request to a path of the agent: a POST with a body, else a GET. Resolves with the JSON response and rejects with the server's error, also for a
 * POST that names no agent if none declares a `defaultProjectId`.
 */
export async function askServer(deps: A2AServerDeps, path: string, body?: unknown): Promise<unknown> {
  const { server, agentId, headers } = deps;
  const posted = body === undefined ? {} : { method: "POST", body: jsonOf(body) };
  const required = body === undefined ? {} : { [REQUIRE_DEFAULT_PROJECT]: "true" };
  const request = new Request(`${NOWHERE}${agentPath(agentId)}${path}`, {
    headers: { ...headers, ...required, "content-type": "application/json" },
    ...posted,
  });
  const response = await server.fetch(request);
  const answer: unknown = await response.json();
  if (!response.ok) throw errorOf(response.status, answer);
  return answer;
}

/** The path of an agent; empty for the agent at the root. */
export function agentPath(agentId: string | undefined): string {
  return agentId === undefined ? "" : `/agents/${encodeURIComponent(agentId)}`;
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch {
    const description = "must be a JSON value";
    throw new ValidationError(`body: ${description}`, [{ field: "body", description }]);
  }
}
