import { RemoteError, type RemoteErrorCode } from "../../client/http/errors.ts";
import { A2AError } from "../../protocol/error.ts";
import { CLI_ERRORS, CliError, type CliErrorCode } from "../cli-error.ts";

/** A failure as it is told: the error envelope of the specification, and the exit code that goes with it. */
export interface Failure {
  /** The protocol's name of the error, `A2ACLI_ERR_…` for one of the command line, `PALAVER_ERR_…` for what neither names. */
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  /** The number or the reason by which the agent told it. */
  readonly a2aCode: string | number | null;
  readonly exitCode: number;
}

/** What is known of a call that failed, for better advice. */
export interface Circumstances {
  /** Something was shown to the agent to say who calls. */
  readonly hasCredentials: boolean;
  /** `-a REF ` as it must be repeated, or nothing. */
  readonly agentFlags: string;
  /** The task that the call was about, where known. */
  readonly taskId?: string | undefined;
  readonly debug: boolean;
}

/** Names that the protocol gives, by our own. */
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
  "no-interface": "VersionNotSupportedError",
};

/** What goes wrong before an agent could say anything, or without a word of the protocol for it. */
const LOCAL_CODES: Partial<Readonly<Record<RemoteErrorCode, CliErrorCode>>> = {
  network: "A2ACLI_ERR_UNREACHABLE",
  timeout: "A2ACLI_ERR_TIMEOUT",
  "invalid-card": "A2ACLI_ERR_CARD_INVALID",
  "invalid-signature": "A2ACLI_ERR_CARD_INVALID",
  "card-not-found": "A2ACLI_ERR_CARD_NOT_FOUND",
  "no-credentials": "A2ACLI_ERR_CREDENTIALS_MISSING",
  "blocked-url": "A2ACLI_ERR_INTERNAL",
};

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

/** What to do about it, where there is something to do. A command stands at the end, ready to be pasted. */
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
      return `To see all that is wrong with it: ${command("card get --validate")}`;
    case "unauthenticated":
    case "permission-denied":
    case "no-credentials":
      return hasCredentials
        ? `The agent refuses these credentials. To see which kind it wants: ${command("card get")}`
        : `Set A2ACLI_BEARER or A2ACLI_API_KEY, or run: ${command("auth login")}`;
    case "task-not-found":
      return `${debug ? "" : "--debug shows what the agent said. "}To see your tasks: ${command("task list")}`;
    case "timeout":
    case "stream-lost":
    case "outcome-unknown":
      return taskId === undefined
        ? `To see whether a task was made: ${command("task list")}`
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
      return `--media-type says what a part is. To see what the agent reads: ${command("card get")}`;
    case "rate-limited":
    case "unavailable":
    case "resource-exhausted":
      return "Try again later.";
    default:
      return debug ? undefined : "--debug shows what was sent and received.";
  }
}

/** What OpenSSL says when the other side does not answer in TLS. */
const NOT_TLS = /wrong version number|packet length too long|record layer failure|EPROTO/i;

function networkHint(error: Error): string {
  if (NOT_TLS.test(error.message) && error.message.includes("https://")) {
    return "That port answers in plain HTTP, not HTTPS. Use http:// instead of https://.";
  }
  return "Is the agent running, and is that its address? To start one to try: palaver serve --demo";
}
