import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Server } from "../../../src/platform/create-server.ts";
import { ScriptedAgent, type ScriptedAgentOptions } from "../scripted-agent.ts";
import { Terminal } from "../terminal.ts";
import { startWorld } from "../world.ts";

/** What the tests of one file have around them. */
export interface Setting {
  /** Its home and folder are new for every test. */
  readonly terminal: Terminal;
  /** The agents of the demonstration and of the tests, on a server that all tests of the file share. */
  readonly world: { readonly url: string };
  /** The flags that name an agent of that server. */
  at(id: string): readonly string[];
  /** An agent that says what it is told to, until the test is over. */
  script(options: ScriptedAgentOptions): Promise<ScriptedAgent>;
}

/** To be called at the top of a file. */
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
