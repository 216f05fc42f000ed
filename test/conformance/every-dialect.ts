import type { RunFunction, ServerOptions } from "palaver";
import { afterAll, beforeAll, describe } from "vitest";
import type { Caller, CallerOptions, DialectClient } from "./dialect-client.ts";
import { type AgentName, openTestServer, type TestServer } from "./test-server.ts";

/** One dialect and a server to call in it. */
export interface Setting {
  readonly dialectClient: DialectClient;
  /** Calls one of the agents; by default the actor at the root. */
  caller(agent?: AgentName, callerOptions?: CallerOptions): Caller;
  /** Returns the message text that makes the actor run this function. */
  textToRun(run: RunFunction): string;
  /** The address of the root. */
  url(): string;
}

/** Registers the same tests for each dialect, each with its own server. */
export function inEveryDialect(
  dialectClients: readonly DialectClient[],
  tests: (setting: Setting) => void,
  options: ServerOptions = {},
): void {
  describe.each(dialectClients)("$dialect", (dialectClient) => {
    let testServer: TestServer | undefined;
    const opened = (): TestServer => {
      if (testServer === undefined) throw new Error("The server has not started yet.");
      return testServer;
    };
    beforeAll(async () => {
      testServer = await openTestServer({ ...optionsFor(dialectClient), ...options });
    });
    afterAll(() => testServer?.[Symbol.asyncDispose]());
    tests({
      dialectClient,
      caller: (agent, callerOptions) =>
        dialectClient.at(agent === undefined ? opened().url : opened().of(agent), callerOptions),
      textToRun: (run) => opened().textToRun(run),
      url: () => opened().url,
    });
  });
}

/** Server options that replace what requests of this dialect cannot express: their style, and whether they wait. */
export function optionsFor({ dialect }: DialectClient): ServerOptions {
  return { restStyle: dialect === "0.3/rest-json" ? "json" : "proto", blockingDefault: WAITING };
}

/** Makes sends wait in dialects that cannot request it. */
export const WAITING: NonNullable<ServerOptions["blockingDefault"]> = { "0.1/jsonrpc": "wait" };
