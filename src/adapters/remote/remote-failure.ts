import type { RemoteError, RemoteErrorCode } from "../../client/http/errors.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import { ERROR_CODES } from "../../protocol/error.ts";

/** The texts that callers get when the remote agent fails. They reveal neither its address nor its response nor this server's network. */
const KINDS = {
  "remote-unavailable": "could not be reached: try again later",
  "remote-busy": "answered with an error: it is at capacity, try again later",
  "remote-unauthorized": "answered with an error: it does not accept the credentials of this server",
  "remote-invalid": "answered with an error: its answer is not valid A2A",
  "remote-refused": "answered with an error",
} as const;

type Kind = keyof typeof KINDS;

/** All other codes are `remote-refused`. */
const KIND_OF: Partial<Readonly<Record<RemoteErrorCode, Kind>>> = {
  network: "remote-unavailable",
  timeout: "remote-unavailable",
  "stream-lost": "remote-unavailable",
  "no-interface": "remote-unavailable",
  "blocked-url": "remote-unavailable",
  "card-not-found": "remote-unavailable",
  unavailable: "remote-unavailable",
  "rate-limited": "remote-busy",
  "resource-exhausted": "remote-busy",
  unauthenticated: "remote-unauthorized",
  "permission-denied": "remote-unauthorized",
  "no-credentials": "remote-unauthorized",
  "invalid-agent-response": "remote-invalid",
  "invalid-card": "remote-invalid",
  "invalid-signature": "remote-invalid",
  "response-too-large": "remote-invalid",
  "event-too-large": "remote-invalid",
};

/**
 * The failure that callers see if the remote agent fails: a code (`code` in the data part), a fixed sentence and, for an A2A error, its name. The error
 * itself contains URLs and responses and goes only to the log.
 */
export function remoteFailure(agentName: string, error: RemoteError): TaskFailure {
  const code = kindOf(error);
  const name = ERROR_CODES.find((known) => known === error.code);
  const isNamed = code === "remote-refused" && name !== undefined;
  return new TaskFailure(`${agentName} ${KINDS[code]}${isNamed ? `: ${name}` : ""}.`, {
    code,
    data: { code, ...(isNamed && { error: name }) },
    cause: error,
  });
}

function kindOf({ code, remote: { httpStatus, rpcCode } }: RemoteError): Kind {
  // The error of a gateway, not of the agent.
  if (code === "internal" && httpStatus !== undefined && httpStatus >= 500 && rpcCode === undefined)
    return "remote-unavailable";
  return KIND_OF[code] ?? "remote-refused";
}
