import type { RunFunction, ServerOptions } from "palaver";
import { afterAll, beforeAll, describe } from "vitest";
import type { Caller, Manner, Speaker } from "./speaker.ts";
import { type AgentName, openStage, type Stage } from "./stage.ts";

/** One dialect and a server to call in it. */
export interface Setting {
  readonly speaker: Speaker;
  /** Calls one of the agents; by default the actor at the root. */
  caller(agent?: AgentName, manner?: Manner): Caller;
  /** Returns the message text that makes the actor run this function. */
  play(run: RunFunction): string;
  /** The address of the root. */
  url(): string;
}

/** Registers the same tests for each dialect, each with its own server. */
export function inEveryDialect(
  speakers: readonly Speaker[],
  tests: (setting: Setting) => void,
  options: ServerOptions = {},
): void {
  describe.each(speakers)("$dialect", (speaker) => {
    let stage: Stage | undefined;
    const opened = (): Stage => {
      if (stage === undefined) throw new Error("The server has not started yet.");
      return stage;
    };
    beforeAll(async () => {
      stage = await openStage({ ...optionsFor(speaker), ...options });
    });
    afterAll(() => stage?.[Symbol.asyncDispose]());
    tests({
      speaker,
      caller: (agent, manner) => speaker.at(agent === undefined ? opened().url : opened().of(agent), manner),
      play: (run) => opened().play(run),
      url: () => opened().url,
    });
  });
}

/** Server options that replace what requests of this dialect cannot express: their style, and whether they wait. */
export function optionsFor({ dialect }: Speaker): ServerOptions {
  return { restStyle: dialect === "0.3/rest-json" ? "json" : "proto", blockingDefault: WAITING };
}

/** Makes sends wait in dialects that cannot request it. */
export const WAITING: NonNullable<ServerOptions["blockingDefault"]> = { "0.1/jsonrpc": "wait" };
