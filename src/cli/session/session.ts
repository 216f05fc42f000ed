// What every command that calls an agent needs: settings, output, progress, secrets to hide, and one place that turns errors into messages
// and exit codes. `runSession` creates it, runs the command and reports.

import type { AgentClient } from "../../client/api.ts";
import type { CredentialSet, Token } from "../../client/credentials/contract.ts";
import { type Send, senderOf } from "../../client/http/send.ts";
import { oneLine } from "../../internal/terminal-text.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import { officialState } from "../../wire/official-json.ts";
import { CliError, CommandFailed, usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { agentReference, referenceKey } from "../options/agent-reference.ts";
import type { OptionName } from "../options/option-table.ts";
import { type Flags, resolveSettings, type Settings, type Sources, settingOf } from "../options/settings.ts";
import { sourcesFrom } from "../options/sources.ts";
import { type Circumstances, failureOf } from "../output/failure.ts";
import { createJsonOutput } from "../output/json-output.ts";
import type { Output } from "../output/output.ts";
import { type Progress, startProgress } from "../output/progress.ts";
import { Redaction } from "../output/redact.ts";
import { TextOutput } from "../output/text-output.ts";
import { pasteable } from "../program-name.ts";
import { shellWord } from "../shell-words.ts";
import type { ConnectRequest, ReadCard } from "./connect.ts";
import { debugSend } from "./debug-send.ts";
import { storedCredentials } from "./token-store.ts";

/** One run of a command that calls an agent. */
export interface Session {
  readonly context: CliContext;
  readonly settings: Settings;
  readonly sources: Sources;
  readonly output: Output;
  readonly progress: Progress;
  /** Knows the secrets of this run. Errors, notes and logs pass through it. */
  readonly redaction: Redaction;
  /** Sends requests, with logging if `--debug` is set. */
  readonly send: Send;
  /** Aborts when the user interrupts, and after `--timeout`. */
  readonly signal: AbortSignal;
  /** `-a REF ` and the other typed options that select the agent, for commands that the user may copy. Contains no secrets. */
  readonly agentFlags: string;
  /** `anonymous`: send no credentials. `agent`: another agent than that of this run; of another origin, it gets no credentials of this call. */
  connect(options?: { readonly anonymous?: boolean; readonly agent?: string }): Promise<AgentClient>;
  /** The agent's card as received. */
  readCard(): Promise<ReadCard>;
  /** Sets the task of this run, for later error messages. */
  about(task: Task): void;
  /** The same if only the id of the task is known. */
  aboutId(taskId: string): void;
  /** Writes `Warning: …` to standard error. */
  warn(message: string): Promise<void>;
  /** Writes a line to standard error. */
  note(message: string): Promise<void>;
  /** Sets the exit code of a command that did its work. */
  exitWith(code: number): void;
}

/** Runs a command with its settings, and reports errors as text or JSON. Throws `CommandFailed` after an error was reported. */
export async function runSession(
  context: CliContext,
  flags: Flags,
  body: (session: Session) => Promise<void>,
): Promise<void> {
  const sources = sourcesFrom(context, flags);
  const settings = resolveSettings(sources);
  const timeout = settings.timeout === undefined ? undefined : AbortSignal.timeout(settings.timeout);
  const signal = timeout === undefined ? context.signal : AbortSignal.any([context.signal, timeout]);
  const session = new RunningSession({ context, settings, sources, signal });
  try {
    await body(session);
  } catch (error) {
    await session.fail(causeOf(error, { context, timeout, session }));
  } finally {
    await session.progress.stop();
  }
  if (session.exitCode !== 0) throw new CommandFailed(session.exitCode, undefined);
}

/** Credentials and headers of a call are for one server. */
function isSameOrigin(one: string, other: string | undefined): boolean {
  return other !== undefined && URL.parse(one)?.origin === URL.parse(other)?.origin;
}

/** Only typed options are repeated; settings from files stay in effect. The binding is not needed: the task is the same over all of them. */
function typedFlags(sources: Sources): string {
  const typed = (name: OptionName): readonly string[] => {
    const { source, values } = settingOf(name, sources);
    return source === "flag" ? values : [];
  };
  return [
    ...typed("agent-card").map((value) => `-a ${shellWord(value)} `),
    ...typed("config").map((value) => `--config ${shellWord(value)} `),
    ...typed("a2a-version").map((value) => `--a2a-version ${shellWord(value)} `),
    ...typed("insecure").map(() => "--insecure "),
  ].join("");
}

interface SessionParts {
  readonly context: CliContext;
  readonly settings: Settings;
  readonly sources: Sources;
  readonly signal: AbortSignal;
}

class RunningSession implements Session {
  readonly context: CliContext;
  readonly settings: Settings;
  readonly sources: Sources;
  readonly output: Output;
  readonly progress: Progress;
  readonly redaction: Redaction = new Redaction();
  readonly send: Send;
  readonly signal: AbortSignal;
  readonly agentFlags: string;
  #task: Task | undefined;
  #taskId: string | undefined;
  #hasCredentials: boolean;
  #isInsecurityReported = false;
  #exitCode = 0;

  constructor({ context, settings, sources, signal }: SessionParts) {
    this.context = context;
    this.settings = settings;
    this.sources = sources;
    this.signal = signal;
    this.agentFlags = typedFlags(sources);
    this.#hasCredentials = settings.bearer !== undefined || settings.apiKey !== undefined;
    this.progress = startProgress(context.stderr, context.env, context.now);
    this.output = outputFor(this);
    const { bearer, apiKey, serviceParameters } = settings;
    for (const secret of [bearer, apiKey, ...Object.values(serviceParameters)]) this.redaction.hide(secret);
    for (const name of Object.keys(serviceParameters)) this.redaction.hideHeader(name);
    const send = senderOf(context);
    this.send = settings.debug ? this.#debugSend(send) : send;
  }

  get task(): Task | undefined {
    return this.#task;
  }

  get exitCode(): number {
    return this.#exitCode;
  }

  async connect({
    anonymous = false,
    agent: other,
  }: {
    readonly anonymous?: boolean;
    readonly agent?: string;
  } = {}): Promise<AgentClient> {
    const isElsewhere = other !== undefined && !isSameOrigin(other, this.settings.agentCard);
    const agent = await this.context.connect(await this.#request(anonymous || isElsewhere, other));
    const { binding, protocolVersion, url } = agent.interface;
    if (this.settings.debug) await this.note(`[palaver] ${binding} ${protocolVersion} at ${url} is used`);
    return agent;
  }

  async readCard(): Promise<ReadCard> {
    return this.context.connect.readCard(await this.#request(false));
  }

  /** Throws a usage error if no agent is given. */
  async #request(anonymous: boolean, other?: string): Promise<ConnectRequest> {
    const { settings, context } = this;
    const named = other ?? settings.agentCard;
    if (named === undefined) {
      throw usageError(
        "The agent is missing.",
        "Add its URL: -a http://127.0.0.1:3000, or set A2ACLI_AGENT_CARD in the environment or in a .env file.",
      );
    }
    const reference = agentReference(named, context.cwd);
    const credentials = anonymous ? undefined : this.#credentials(referenceKey(reference));
    await this.#warnOfInsecurity();
    return {
      reference,
      bindings: settings.transports,
      ...(settings.version !== undefined && { version: settings.version }),
      headers: anonymous && other !== undefined ? {} : settings.serviceParameters,
      ...(credentials !== undefined && { credentials }),
      pollInterval: settings.pollInterval,
      send: this.send,
      signal: this.signal,
    };
  }

  /** The credentials of this call, else the token of an earlier login to this agent. */
  #credentials(agent: string): CredentialSet | undefined {
    const { bearer, apiKey } = this.settings;
    if (bearer !== undefined || apiKey !== undefined) {
      return { ...(bearer !== undefined && { bearer }), ...(apiKey !== undefined && { apiKey }) };
    }
    const clientSecret = settingOf("client-secret", this.sources).values[0];
    this.redaction.hide(clientSecret);
    const hide = ({ accessToken, refreshToken }: Token): void => {
      this.redaction.hide(accessToken);
      this.redaction.hide(refreshToken);
    };
    const oauth2 = storedCredentials({ home: this.context.home, agent, onToken: hide }, clientSecret);
    this.#hasCredentials = oauth2 !== undefined;
    return oauth2 && { oauth2 };
  }

  about(task: Task): void {
    this.#task = task;
    this.#taskId = task.id;
  }

  aboutId(taskId: string): void {
    this.#taskId = taskId;
  }

  async warn(message: string): Promise<void> {
    await this.#say(`${paintOn(this.context, YELLOW)("Warning")}: ${oneLine(this.redaction.text(message))}`);
  }

  async note(message: string): Promise<void> {
    await this.#say(oneLine(this.redaction.text(message)));
  }

  exitWith(code: number): void {
    this.#exitCode = code;
  }

  async #say(line: string): Promise<void> {
    await this.progress.clear();
    await this.context.stderr.write(`${line}\n`);
  }

  /** Reports the error and throws. */
  async fail(error: unknown): Promise<never> {
    await this.progress.stop();
    const circumstances: Circumstances = {
      hasCredentials: this.#hasCredentials,
      agentFlags: this.agentFlags,
      taskId: this.#taskId === undefined ? undefined : shellWord(this.#taskId),
      debug: this.settings.debug,
    };
    const failure = failureOf(error, circumstances);
    const { message, hint } = failure;
    const { program } = this.context;
    const shown = (text: string): string => pasteable(this.redaction.text(text), program);
    const safe = { ...failure, message: shown(message), hint: hint && shown(hint) };
    // In text output, the task's id has not been printed yet.
    if (this.settings.output === "text") await this.output.streamEnd(this.#task);
    await this.output.failure(safe);
    throw new CommandFailed(failure.exitCode, error);
  }

  #debugSend(send: Send): Send {
    const { context, redaction } = this;
    const log = (line: string): void => void this.#say(`[wire] ${oneLine(line)}`);
    return debugSend({ send, redaction, now: context.now, log });
  }

  /** Once per command, before the first request. */
  async #warnOfInsecurity(): Promise<void> {
    if (!this.settings.insecure || this.#isInsecurityReported) return;
    this.#isInsecurityReported = true;
    this.context.trustAllCertificates();
    await this.warn(
      "TLS certificates are not verified (--insecure). Anyone on the network path can read and change everything.",
    );
    if (this.#hasCredentials || Object.keys(this.settings.serviceParameters).length > 0) {
      await this.warn("SECURITY: credentials are sent over a connection whose certificate is not verified.");
    }
  }
}

const RED = 31;
const YELLOW = 33;

/** Colour on a terminal, unless `NO_COLOR` is set. */
function paintOn({ stderr, env }: CliContext, colour: number): (word: string) => string {
  const isPlain = !stderr.isTTY || Boolean(env["NO_COLOR"]) || env["TERM"] === "dumb";
  return (word) => (isPlain ? word : `\u001b[${colour}m${word}\u001b[0m`);
}

/** Text or JSON, by `--output`. */
function outputFor({ context, settings, agentFlags, progress }: RunningSession): Output {
  const { stdout, stderr } = context;
  // Output and the progress line must not mix.
  const write = async (text: string): Promise<void> => {
    await progress.clear();
    if (text !== "") progress.hold(stdout.isTTY && !text.endsWith("\n"));
    await stdout.write(text);
  };
  const clean = { isTTY: stdout.isTTY, write };
  if (settings.output === "json") return createJsonOutput(clean, settings);
  const { verbose } = settings;
  const { program } = context;
  return new TextOutput({ stdout: clean, stderr, verbose, agentFlags, program, paint: paintOn(context, RED) });
}

interface Ending {
  readonly context: CliContext;
  readonly timeout: AbortSignal | undefined;
  readonly session: RunningSession;
}

/** The error to report. After an abort, that is the interruption or the timeout, whatever the call threw. */
function causeOf(error: unknown, { context, timeout, session }: Ending): unknown {
  if (error instanceof CliError && error.code === "A2ACLI_ERR_USAGE") return error;
  const { task, agentFlags } = session;
  const hint =
    task === undefined || isTerminal(task.status.state) || isInterrupted(task.status.state)
      ? undefined
      : `The task continues. To wait for it: palaver task get ${agentFlags}--task-id ${shellWord(task.id)} --wait`;
  const options = { cause: error, ...(hint !== undefined && { hint }) };
  if (context.signal.aborted) {
    return new CliError("A2ACLI_ERR_INTERNAL", "Interrupted.", { ...options, exitCode: INTERRUPTED });
  }
  if (timeout?.aborted !== true) return error;
  const state = task === undefined ? "" : ` The task is in ${officialState(task.status)}.`;
  const after = session.settings.timeout === undefined ? "" : ` after ${session.settings.timeout} ms`;
  return new CliError("A2ACLI_ERR_TIMEOUT", `The command timed out${after}.${state}`, options);
}

/** The exit code of a program that Ctrl+C stopped, by the convention of shells. */
const INTERRUPTED = 130;
