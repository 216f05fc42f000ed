import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Asked, type Reply, serveScript } from "../http-script.ts";
import { elementsOf, type Json } from "../json.ts";
import { type Act, ServerScript } from "../server-script.ts";
import { freePort } from "./free-port.ts";
import type { RealServer } from "./real-peer.ts";

const QUESTION = "What is your name?";

/** The real program, in its own process. Its model is a local server with scripted answers. */
export const realGeminiCliServer: RealServer = {
  name: "gemini-cli",
  packages: { "@google/gemini-cli-a2a-server": "0.25.2" },
  async load({ folder }) {
    return async () => {
      const model = await serveScript((asked) => answer(asked));
      const port = await freePort();
      const home = join(folder, "home");
      await mkdir(home, { recursive: true });
      const program = join(folder, "node_modules/@google/gemini-cli-a2a-server/dist/a2a-server.mjs");
      const child = spawn(process.execPath, [program], {
        cwd: home,
        stdio: "ignore",
        env: {
          PATH: process.env["PATH"],
          HOME: home,
          CODER_AGENT_PORT: String(port),
          CODER_AGENT_WORKSPACE_PATH: home,
          GEMINI_API_KEY: "none",
          GOOGLE_GEMINI_BASE_URL: model.url,
        },
      });
      const url = `http://localhost:${port}`;
      await untilServed(`${url}/.well-known/agent-card.json`, child);
      return {
        url,
        async close() {
          child.kill();
          if (child.exitCode === null) await once(child, "exit");
          await model.close();
        },
      };
    };
  },
};

/** A stand-in for the model's HTTP interface. */
function answer({ path, body, left }: Asked): Reply {
  if (path.endsWith(":countTokens")) return { status: 200, json: { totalTokens: 1 } };
  const contents = elementsOf(body?.contents);
  if (!path.endsWith(":streamGenerateContent")) {
    // The program asks its model which model to use, and who speaks next.
    const choice = { reasoning: "scripted", model_choice: "flash", next_speaker: "user" };
    return { status: 200, json: chunk(JSON.stringify(choice)) };
  }
  const act = actOn(contents);
  if (act.kind === "fail")
    return { status: 400, json: { error: { code: 400, message: act.reason, status: "INVALID_ARGUMENT" } } };
  return { frames: frames(act, left) };
}

function actOn(contents: readonly Json[]): Act {
  const said = contents.map(({ parts }) =>
    elementsOf(parts)
      .map((part) => part.text ?? "")
      .join(""),
  );
  return new ServerScript().act({ text: said.at(-1) ?? "", fileBytes: 0, isAnswer: said.at(-2) === QUESTION });
}

async function* frames(act: Act, left: AbortSignal): AsyncGenerator<string> {
  if (act.kind === "work") await new Promise((resolve) => left.addEventListener("abort", resolve));
  const tokens = act.kind === "write" ? act.tokens : act.kind === "ask" ? [act.question] : [];
  for (const token of tokens) yield `data: ${JSON.stringify(chunk(token))}\n\n`;
  yield `data: ${JSON.stringify(chunk("", "STOP"))}\n\n`;
}

function chunk(text: string, finishReason?: string): object {
  const content = { role: "model", parts: [{ text }] };
  return { candidates: [{ content, index: 0, ...(finishReason && { finishReason }) }] };
}

async function untilServed(url: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`The program ended with status ${child.exitCode}.`);
    const isServed = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isServed) return;
    await sleep(100);
  }
  child.kill();
  throw new Error("The program did not serve its card within 30 s.");
}
