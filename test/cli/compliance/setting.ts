import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Server } from "../../../src/platform/create-server.ts";
import { ScriptedAgent, type ScriptedAgentOptions } from "../scripted-agent.ts";
import { Terminal } from "../terminal.ts";
import { startWorld } from "../world.ts";

/** The environment that the tests of a file share. */
export interface Setting {
  /** Its home and folder are new for every test. */
  readonly terminal: Terminal;
  /** The agents of the demonstration and of the tests, on one server for all tests of the file. */
  readonly world: { readonly url: string };
  /** The flags that select an agent of that server. */
  at(id: string): readonly string[];
  /** Starts an agent with scripted responses; it stops after the test. */
  script(options: ScriptedAgentOptions): Promise<ScriptedAgent>;
}

/** Call at the top level of a test file. */
export function openSetting(): Setting {
  const terminal = new Terminal();
  const scripted: ScriptedAgent[] = [];
  let served: { readonly url: string; readonly server: Server } | undefined;
  const world = {
    get url(): string {
      if (served === undefined) throw new Error("The server has not been started yet.");
      return served.url;
    },
  };
  beforeAll(async () => {
    served = await startWorld();
  });
  afterAll(() => served?.server.close());
  beforeEach(() => terminal.open());
  afterEach(async () => {
    terminal.close();
    for (const agent of scripted.splice(0)) await agent.close();
  });
  return {
    terminal,
    world,
    at: (id) => ["-a", `${world.url}/agents/${id}`],
    async script(options) {
      const agent = await ScriptedAgent.start(options);
      scripted.push(agent);
      return agent;
    },
  };
}
