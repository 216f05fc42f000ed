import type { RunFunction, ServerOptions } from "palaver";
import { afterAll, beforeAll, describe } from "vitest";
import type { Caller, Manner, Speaker } from "./speaker.ts";
import { type AgentName, openStage, type Stage } from "./stage.ts";

/** One dialect and a server that is spoken to in it. */
export interface Setting {
  readonly speaker: Speaker;
  /** Speaks to one of the agents; to the actor, at the root, unless another is named. */
  caller(agent?: AgentName, manner?: Manner): Caller;
  /** What to say to the actor so that it does this. */
  play(run: RunFunction): string;
  /** The address of the root. */
  url(): string;
}

/** Registers the same tests for each of these dialects, each with a server of its own. */
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

/** What requests of this dialect cannot show or say, and the server has to be told instead: their style, and that they wait. */
export function optionsFor({ dialect }: Speaker): ServerOptions {
  return { restStyle: dialect === "0.3/rest-json" ? "json" : "proto", blockingDefault: WAITING };
}

/** Lets sends wait that cannot ask for it. */
export const WAITING: NonNullable<ServerOptions["blockingDefault"]> = { "0.1/jsonrpc": "wait" };
