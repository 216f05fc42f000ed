import { RemoteError, type RemoteErrorCode } from "../client/errors.ts";
import { A2AError } from "../protocol/error.ts";
import { CLI_ERRORS, CliError, type CliErrorCode } from "./cli-error.ts";

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
    hint: hintFor(error.code, circumstances) ?? null,
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

/** What to do about it, where there is something to do. */
function hintFor(
  code: RemoteErrorCode,
  { agentFlags, taskId, hasCredentials, debug }: Circumstances,
): string | undefined {
  const task = taskId === undefined ? "" : ` --task-id ${taskId}`;
  switch (code) {
    case "network":
      return "Is the agent running, and is that its address? palaver serve --demo starts one to try.";
    case "card-not-found":
      return "Give the agent's origin (-a https://agents.example.org), its card's URL, or a file.";
    case "invalid-card":
      return `palaver card get --validate ${agentFlags}tells all that is wrong with it.`;
    case "unauthenticated":
    case "permission-denied":
    case "no-credentials":
      return hasCredentials
        ? "The agent refuses these credentials; palaver card get shows which kind it wants."
        : `Set A2ACLI_BEARER or A2ACLI_API_KEY, or run: palaver auth login ${agentFlags}`.trimEnd();
    case "task-not-found":
      return `palaver task list ${agentFlags}shows your tasks${debug ? "" : "; --debug shows what the agent said"}.`;
    case "timeout":
    case "stream-lost":
    case "outcome-unknown":
      return taskId === undefined
        ? `palaver task list ${agentFlags}shows whether it has begun.`
        : `palaver task get${task} --wait ${agentFlags}`.trimEnd();
    case "task-not-cancelable":
      return `palaver task get${task} ${agentFlags}shows how it ended.`;
    case "version-not-supported":
    case "no-interface":
      return `palaver card get ${agentFlags}shows what the agent speaks; --a2a-version any accepts old versions too.`;
    case "method-not-found":
    case "unsupported-operation":
      return `The agent cannot do this; palaver card get ${agentFlags}shows what it can.`;
    case "push-not-supported":
      return "Use palaver task subscribe, or palaver task get --wait.";
    case "content-type-not-supported":
      return "palaver card get shows what the agent reads; --media-type says what a part is.";
    case "rate-limited":
    case "unavailable":
    case "resource-exhausted":
      return "Try again later.";
    default:
      return debug ? undefined : "--debug shows what was sent and received.";
  }
}
