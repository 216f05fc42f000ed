import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A message as a model gets it, the same for all frameworks. */
export interface PromptMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly text: string;
}

/** What a scripted model answers: pieces of text, then tool calls. */
export interface ScriptedAnswer {
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  /** Sends nothing more after the text, until the call is aborted. */
  readonly stall?: boolean;
  /** Fails with this error instead. */
  readonly error?: string;
}

/** Decides what the models of a server in another process answer, and counts: it survives when that process is killed. */
export interface ScriptServer extends AsyncDisposable {
  readonly url: string;
  /** The prompts of all model calls, in order. */
  readonly prompts: (readonly PromptMessage[])[];
  /** The names of the tools that ran, in order. */
  readonly tools: string[];
  script: (prompt: readonly PromptMessage[]) => ScriptedAnswer;
}

export async function openScriptServer(): Promise<ScriptServer> {
  const prompts: (readonly PromptMessage[])[] = [];
  const tools: string[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const answer = request.url === "/model" ? modelAnswer(JSON.parse(body)) : tools.push(JSON.parse(body));
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // Safe cast: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  const opened: ScriptServer = {
    url: `http://127.0.0.1:${port}`,
    prompts,
    tools,
    script: () => ({ text: ["No script."] }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return opened;

  function modelAnswer(prompt: readonly PromptMessage[]): ScriptedAnswer {
    prompts.push(prompt);
    return opened.script(prompt);
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  return body;
}
