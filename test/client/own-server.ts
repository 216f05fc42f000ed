import { type Agent, agent, createServer, type Server, type ServerOptions } from "palaver";

/** An agent whose behaviour depends on the first word of the message. */
export function versatile(): Agent {
  return agent({
    id: "versatile",
    name: "Versatile",
    description: "Follows a script.",
    version: "1.0.0",
    capabilities: { extendedAgentCard: true, pushNotifications: false },
    extendedCard: () => ({ description: "Follows a script, and more." }),
    async *run(task) {
      const [word, argument = ""] = task.text.split(" ");
      switch (word) {
        case "count":
          for (let index = 1; index <= Number(argument); index++) yield `${index} `;
          return;
        case "ask": {
          const name = await task.ask("What is your name?");
          yield `Hello, ${name}!`;
          return;
        }
        case "twice": {
          const first = await task.ask("First?");
          const second = await task.ask("Second?");
          yield `${first} and ${second}`;
          return;
        }
        case "tool": {
          const sum = await task.ask("Please add.", { tool: { name: argument, input: { a: 2, b: 3 } } });
          yield `The tool says ${sum}`;
          return;
        }
        case "hang":
          yield "waiting";
          await new Promise((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason)));
          return;
        case "fail":
          throw new Error("out of order");
        case "data":
          yield { answer: 42 };
          return;
        default:
          yield `You said ${task.text}`;
      }
    },
  });
}

export interface Site {
  readonly url: string;
  readonly server: Server;
  readonly close: () => Promise<void>;
}

export async function openSite(
  agents: Agent | readonly Agent[] = versatile(),
  options: ServerOptions = {},
): Promise<Site> {
  const server = createServer(agents, {
    port: 0,
    store: "memory:",
    drainTimeout: 0,
    cancelGrace: 50,
    logger: SILENT,
    authenticate: () => ({ id: "tester", anonymous: false }),
    ...options,
  });
  const { url } = await server.listen();
  return { url, server, close: server.close };
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
