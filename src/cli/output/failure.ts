import { RemoteError, type RemoteErrorCode } from "../../client/http/errors.ts";
import { A2AError } from "../../protocol/error.ts";
import { CLI_ERRORS, CliError, type CliErrorCode } from "../cli-error.ts";

/** An error for output: the error envelope of the a2a-cli specification, and the exit code. */
export interface Failure {
  /** The protocol's error name; `A2ACLI_ERR_…` for errors of the command line; `PALAVER_ERR_…` for others. */
  readonly code: string;
  readonly message: string;
  /** What the user can do; `null` if nothing is known. */
  readonly hint: string | null;
  /** The agent's error number or reason. */
  readonly a2aCode: string | number | null;
  readonly exitCode: number;
}

/** Facts about the failed call, for the hint. */
export interface Circumstances {
  /** Credentials were sent to the agent. */
  readonly hasCredentials: boolean;
  /** `-a REF ` for commands that the user may copy, or empty. */
  readonly agentFlags: string;
  /** The task of the call, if known. */
  readonly taskId?: string | undefined;
  readonly debug: boolean;
}

/** The protocol's error names by our codes. */
const PROTOCOL_NAMES: Partial<Readonly<Record<RemoteErrorCode, string>>> = {
  "parse-error": "JSONParseError",
  "invalid-request": "InvalidRequestError",
  "method-not-found": "MethodNotFoundError",
  "method-not-allowed": "MethodNotFoundError",
  "invalid-params": "InvalidParamsError",
  internal: "InternalError",
  "task-not-found": "TaskNotFoundError",
  "task-not-cancelable": "TaskNotCancelableError",
  "push-not-supported": "PushNotificationNotSupportedError",
  "unsupported-operation": "UnsupportedOperationError",
  "content-type-not-supported": "ContentTypeNotSupportedError",
  "unsupported-media-type": "ContentTypeNotSupportedError",
  "invalid-agent-response": "InvalidAgentResponseError",
  "extended-card-not-configured": "ExtendedAgentCardNotConfiguredError",
  "extension-support-required": "ExtensionSupportRequiredError",
  "version-not-supported": "VersionNotSupportedError",
  "task-changed": "TaskGenerationMismatchError",
  "no-interface": "VersionNotSupportedError",
};

/** Errors without a protocol name: before the agent answered, or outside the protocol. */
const LOCAL_CODES: Partial<Readonly<Record<RemoteErrorCode, CliErrorCode>>> = {
  network: "A2ACLI_ERR_UNREACHABLE",
  timeout: "A2ACLI_ERR_TIMEOUT",
  "invalid-card": "A2ACLI_ERR_CARD_INVALID",
  "invalid-signature": "A2ACLI_ERR_CARD_INVALID",
  "card-not-found": "A2ACLI_ERR_CARD_NOT_FOUND",
  "no-credentials": "A2ACLI_ERR_CREDENTIALS_MISSING",
  "blocked-url": "A2ACLI_ERR_INTERNAL",
};

/** Any thrown value as output. Exit codes: `docs/reference/cli.md`. */
export function failureOf(thrown: unknown, circumstances: Circumstances): Failure {
  if (thrown instanceof CliError) {
    const { code, message, hint, exitCode } = thrown;
    return { code, message, hint: hint ?? null, a2aCode: null, exitCode };
  }
  if (thrown instanceof RemoteError || thrown instanceof A2AError) return remoteFailure(thrown, circumstances);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { code: "A2ACLI_ERR_INTERNAL", message, hint: null, a2aCode: null, exitCode: 1 };
}

function remoteFailure(error: RemoteError | A2AError, circumstances: Circumstances): Failure {
  const { code, exitCode } = classified(error.code, circumstances);
  const remote = error instanceof RemoteError ? error.remote : {};
  return {
    code,
    message: error.message,
    hint: hintFor(error, circumstances) ?? null,
    a2aCode: remote.rpcCode ?? remote.reason ?? remote.httpStatus ?? null,
    exitCode,
  };
}

/** A rejection without credentials means that they are missing; with credentials, that they are wrong. */
function classified(code: RemoteErrorCode, { hasCredentials }: Circumstances): Pick<Failure, "code" | "exitCode"> {
  const named = PROTOCOL_NAMES[code];
  if (named !== undefined) return { code: named, exitCode: 1 };
  const local =
    code === "unauthenticated" || code === "permission-denied"
      ? hasCredentials
        ? "A2ACLI_ERR_AUTH_FAILED"
        : "A2ACLI_ERR_CREDENTIALS_MISSING"
      : LOCAL_CODES[code];
  if (local !== undefined) return { code: local, exitCode: CLI_ERRORS[local] };
  return { code: `PALAVER_ERR_${code.toUpperCase().replaceAll("-", "_")}`, exitCode: 1 };
}

/** What the user can do, if anything. A command to copy comes last. */
function hintFor(error: RemoteError | A2AError, circumstances: Circumstances): string | undefined {
  const { agentFlags, taskId, hasCredentials, debug } = circumstances;
  const command = (words: string): string => `palaver ${words} ${agentFlags}`.trimEnd();
  const ofTask = taskId === undefined ? "" : ` --task-id ${taskId}`;
  switch (error.code) {
    case "network":
      return networkHint(error);
    case "card-not-found":
      return "Give the agent's origin (-a https://agents.example.org), its card's URL, or a file.";
    case "invalid-card":
      return `To list all problems of the card: ${command("card get --validate")}`;
    case "unauthenticated":
    case "permission-denied":
    case "no-credentials":
      return hasCredentials
        ? `The agent rejects these credentials. To see which kind it requires: ${command("card get")}`
        : `Set A2ACLI_BEARER or A2ACLI_API_KEY, or run: ${command("auth login")}`;
    case "task-not-found":
      return `${debug ? "" : "--debug shows the agent's response. "}To see your tasks: ${command("task list")}`;
    case "timeout":
    case "stream-lost":
    case "outcome-unknown":
      return taskId === undefined
        ? `To see whether a task was created: ${command("task list")}`
        : `To wait for it: ${command(`task get${ofTask} --wait`)}`;
    case "task-not-cancelable":
      return taskId === undefined ? undefined : `To see how it ended: ${command(`task get${ofTask}`)}`;
    case "version-not-supported":
    case "no-interface":
      return `To see what the agent offers: ${command("card get")}`;
    case "method-not-found":
    case "unsupported-operation":
      return `The agent cannot do this. To see what it can: ${command("card get")}`;
    case "push-not-supported":
      return taskId === undefined ? undefined : `To follow the task instead: ${command(`task subscribe${ofTask}`)}`;
    case "content-type-not-supported":
      return `Set the type of a part with --media-type. To see which types the agent accepts: ${command("card get")}`;
    case "rate-limited":
    case "unavailable":
    case "resource-exhausted":
      return "Try again later.";
    default:
      return debug ? undefined : "--debug shows the request and the response.";
  }
}

/** The message of OpenSSL if the server does not use TLS. */
const NOT_TLS = /wrong version number|packet length too long|record layer failure|EPROTO/i;

function networkHint(error: Error): string {
  if (NOT_TLS.test(error.message) && error.message.includes("https://")) {
    return "That port answers in plain HTTP, not HTTPS. Use http:// instead of https://.";
  }
  return "Is the agent running, and is the URL correct? To start a demo agent: palaver serve --demo";
}
