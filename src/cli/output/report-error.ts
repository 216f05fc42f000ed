import { messageOf, StartupError } from "../../platform/startup-error.ts";
import { CliError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { pasteable } from "../program-name.ts";
import { failureOf } from "./failure.ts";
import { createJsonOutput } from "./json-output.ts";
import { TextOutput } from "./text-output.ts";

/** For errors before a session exists. */
const NOTHING_KNOWN = { hasCredentials: false, agentFlags: "", debug: false } as const;
/** Text output of such errors. */
const PLAIN = { verbose: false, agentFlags: "", paint: (word: string) => word } as const;

export interface ReportOptions {
  /** Write JSON. */
  readonly json: boolean;
  /** Write the stack of an unexpected error. */
  readonly verbose: boolean;
}

/** Writes an error as text or JSON. Returns the exit code. */
export async function reportError(
  error: unknown,
  { stdout, stderr, program }: CliContext,
  { json, verbose }: ReportOptions,
): Promise<number> {
  if (json) {
    const failure = failureOf(error, NOTHING_KNOWN);
    const hint = failure.hint === null ? null : pasteable(failure.hint, program);
    await createJsonOutput(stdout, { stream: true }).failure({ ...failure, hint });
    return failure.exitCode;
  }
  if (error instanceof CliError) {
    const failure = failureOf(error, NOTHING_KNOWN);
    const hint = failure.hint === null ? null : pasteable(failure.hint, program);
    await new TextOutput({ ...PLAIN, stdout, stderr, program }).failure({ ...failure, hint });
    return error.exitCode;
  }
  await stderr.write(pasteable(`palaver: ${messageOf(error)}\n`, program));
  if (verbose && error instanceof Error) {
    const { stack } = error.cause instanceof Error ? error.cause : error;
    await stderr.write(`${stack ?? ""}\n`);
  }
  return error instanceof StartupError && error.kind === "usage" ? 2 : 1;
}
