/** The error codes of the a2a-cli specification for a tool's own failures, with their exit codes. */
export const CLI_ERRORS = {
  A2ACLI_ERR_USAGE: 2,
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  A2ACLI_ERR_CARD_INVALID: 1,
  A2ACLI_ERR_UNREACHABLE: 3,
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  A2ACLI_ERR_AUTH_FAILED: 4,
  A2ACLI_ERR_TIMEOUT: 5,
  A2ACLI_ERR_INTERNAL: 1,
} as const;

/** The `code` of a `CliError`, as JSON output shows it. */
export type CliErrorCode = keyof typeof CLI_ERRORS;

/** Optional members of a `CliError`. `exitCode` defaults to that of the code. */
export interface CliErrorOptions {
  /** What to do next, preferably a command to copy. */
  readonly hint?: string;
  readonly exitCode?: number;
  readonly cause?: unknown;
}

/** A failure of the command line itself, not of the agent. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(code: CliErrorCode, message: string, options: CliErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? CLI_ERRORS[code];
  }
}

/** For wrong arguments and settings: exit code 2. `hint` says what to type instead. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError("A2ACLI_ERR_USAGE", message, hint === undefined ? {} : { hint });
}

/** The command has failed and has already reported the error. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly exitCode: number;

  constructor(exitCode: number, cause: unknown) {
    super("The command has failed.", { cause });
    this.exitCode = exitCode;
  }
}
