import { randomUUID } from "node:crypto";
import type { Child } from "./children/child.ts";
import { Children } from "./children/children.ts";
import { allowedVariables } from "./environment.ts";
import { type ProcessOptions, type ProcessSettings, processSettings } from "./process-options.ts";
import { createTextOutput } from "./text-output.ts";

/** Options of a process manager: the program gets the prompt on standard input, and its standard output is the answer. */
export type ProcessManagerOptions = Omit<ProcessOptions, "protocol" | "maxLine" | "maxFile">;

/** What a session reports: its answer, and how it ended. */
export interface SessionEvent {
  readonly type: "assistant" | "session_exited" | "session_stopped" | "error";
  /** Of `assistant`: the whole output. */
  readonly message?: { readonly role: "assistant"; readonly content: string };
  /** Of `error`. */
  readonly error?: string;
}

export type SessionListener = (sessionId: string, event: SessionEvent) => void;

/** Runs a program for each session. `palaver/plain` accepts it as `processManager`. */
export interface ProgramManager {
  /** Starts the program. Resolves once it was started; subscribe before. */
  startProcess(session: { readonly id: string }, prompt: string): Promise<void>;
  /** Calls the listener with the events of a session. Returns a function that ends the subscription. */
  subscribe(sessionId: string, listener: SessionListener): () => void;
  /** Ends the program of a session, which then reports `session_stopped`. */
  stopProcess(sessionId: string): Promise<void>;
  /** Ends all programs. */
  close(): Promise<void>;
}

/** Creates a process manager that runs one program for each session. Throws a `TypeError` for invalid options. */
export function createProcessManager(options: ProcessManagerOptions): ProgramManager {
  const settings = processSettings(options);
  const children = new Children(settings.stateFolder);
  const sessions = new Map<string, Child>();
  const listeners = new Map<string, Set<SessionListener>>();
  const stopped = new Set<string>();
  let opened: Promise<number> | undefined;
  const emit = (sessionId: string, event: SessionEvent): void => {
    for (const listener of listeners.get(sessionId) ?? []) listener(sessionId, event);
  };
  const report = async (sessionId: string, work: Promise<SessionEvent>): Promise<void> => {
    const event = await work.catch((error: unknown): SessionEvent => ({ type: "error", error: String(error) }));
    sessions.delete(sessionId);
    emit(sessionId, stopped.delete(sessionId) ? { type: "session_stopped" } : event);
  };
  return {
    async startProcess({ id }, prompt) {
      opened ??= children.open();
      await opened;
      const { program, args, cwd, grace } = settings;
      const env = { ...allowedVariables(settings), PALAVER_SESSION_ID: id };
      const child = children.start({ program, args, cwd, grace, env, run: randomUUID() });
      sessions.set(id, child);
      void report(id, run(child, { prompt, settings, say: (content) => emit(id, answer(content)) }));
    },
    subscribe(sessionId, listener) {
      const all = listeners.get(sessionId) ?? new Set();
      listeners.set(sessionId, all.add(listener));
      return () => {
        all.delete(listener);
        if (all.size === 0) listeners.delete(sessionId);
      };
    },
    async stopProcess(sessionId) {
      const child = sessions.get(sessionId);
      if (child === undefined) return;
      stopped.add(sessionId);
      await child.stop();
    },
    close: () => children.close(),
  };
}

function answer(content: string): SessionEvent {
  return { type: "assistant", message: { role: "assistant", content } };
}

interface SessionRun {
  readonly prompt: string;
  readonly settings: ProcessSettings;
  readonly say: (content: string) => void;
}

/** Resolves with the last event of the session. */
async function run(child: Child, { prompt, settings, say }: SessionRun): Promise<SessionEvent> {
  const text = createTextOutput();
  let output = "";
  let bytes = 0;
  child.write(prompt);
  child.endInput();
  const errors = child.readErrors(async () => {});
  try {
    await child.readOutput(async (chunk) => {
      bytes += chunk.length;
      if (bytes > settings.maxOutput) throw new Error(`The program wrote more than ${settings.maxOutput} bytes.`);
      output += text.add(chunk);
    });
  } catch (error) {
    await child.stop();
    throw error;
  }
  const { code, signal } = await child.ended;
  await errors;
  output += text.end();
  if (code !== 0) return { type: "error", error: `The program ended with ${signal ?? `exit code ${code}`}.` };
  if (output !== "") say(output);
  return { type: "session_exited" };
}
