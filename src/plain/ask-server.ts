import { REQUIRE_DEFAULT_PROJECT } from "../wire/plain/binding.ts";
import { errorOf, ValidationError } from "./errors.ts";
import type { A2ATaskDeps } from "./types.ts";

/** Never looked up: the server is handed the request, and reads nothing of its URL but the path. */
const NOWHERE = "http://server.invalid";

/**
 * What the server answers at a path below the agent's place; with a body, to a POST of it. Rejects with what it refuses with, also a POST that
 * names no agent where none declares a `defaultProjectId`.
 */
export async function askServer(deps: A2ATaskDeps, path: string, body?: unknown): Promise<unknown> {
  const { server, agentId, headers } = deps;
  const place = agentId === undefined ? "" : `/agents/${encodeURIComponent(agentId)}`;
  const posted = body === undefined ? {} : { method: "POST", body: jsonOf(body) };
  const required = body === undefined ? {} : { [REQUIRE_DEFAULT_PROJECT]: "true" };
  const request = new Request(`${NOWHERE}${place}${path}`, {
    headers: { ...headers, ...required, "content-type": "application/json" },
    ...posted,
  });
  const response = await server.fetch(request);
  const answer: unknown = await response.json();
  if (!response.ok) throw errorOf(response.status, answer);
  return answer;
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch {
    const description = "must be something that JSON can hold";
    throw new ValidationError(`body: ${description}`, [{ field: "body", description }]);
  }
}
