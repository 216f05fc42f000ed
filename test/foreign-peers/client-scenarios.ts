import { deepStrictEqual, ok, strictEqual } from "node:assert";
import { FILE, QUESTION, TOKENS } from "./client-agent.ts";
import { type Answer, type ClientPeer, type ClientScenarioName, NotOffered } from "./peer.ts";

type Scenario = (peer: ClientPeer, url: string) => Promise<void>;

/** The scenarios for every client. Each throws if the client does not behave as expected. */
export const RUN_CLIENT: Readonly<Record<ClientScenarioName, Scenario>> = {
  async "text, sent"(peer, url) {
    strictEqual((await one(peer, url, { text: "hello", mode: "send" })).text, "You said: hello");
  },

  async "text, streamed"(peer, url) {
    strictEqual((await one(peer, url, { text: "hello", mode: "stream" })).text, "You said: hello");
  },

  async "answered with a message"(peer, url) {
    strictEqual((await either(peer, url, { text: "message: hi" })).text, "hi");
  },

  async "300 tokens, sent"(peer, url) {
    const { text } = await one(peer, url, { text: "tokens", mode: "send" });
    strictEqual(text.trimEnd(), TOKENS.join("").trimEnd());
  },

  async "300 tokens, streamed"(peer, url) {
    const { text } = await one(peer, url, { text: "tokens", mode: "stream" });
    strictEqual(text.trimEnd(), TOKENS.join("").trimEnd());
  },

  /** The last chunk is stored long before the task ends. */
  async "text, streamed, then a pause"(peer, url) {
    strictEqual((await one(peer, url, { text: "pause", mode: "stream" })).text, "Wait for it.");
  },

  /** The answer must continue the task that asked, and not start another task that asks again. */
  async "question and answer"(peer, url) {
    const conversation = await peer.open(url);
    const mode = await modeOf(peer, url);
    const asked = await conversation.turn({ text: "ask", mode });
    ok(all(asked).includes(QUESTION), `The client did not show the question: ${asked.text}`);
    const answered = await conversation.turn({ text: "Ada", mode });
    ok(all(answered).includes("Hello, Ada."), `The client did not show the answer: ${answered.text}`);
    ok(!answered.text.includes(QUESTION), "The client was asked again.");
  },

  async "file to the agent"(peer, url) {
    const answer = await either(peer, url, { text: "measure", file: FILE });
    ok(all(answer).includes(`${atob(FILE.base64).length} bytes`), `The agent did not receive the file: ${answer.text}`);
  },

  async "file from the agent"(peer, url) {
    deepStrictEqual((await either(peer, url, { text: "file" })).files, [FILE.base64]);
  },

  async "failed task"(peer, url) {
    strictEqual((await either(peer, url, { text: "fail" })).state, "failed");
  },

  async "cancel a running task"(peer, url) {
    const conversation = await peer.open(url);
    if (conversation.cancel === undefined) throw new NotOffered("a cancel");
    strictEqual(await conversation.cancel("wait"), "canceled");
  },
};

type OneTurn = Parameters<Awaited<ReturnType<ClientPeer["open"]>>["turn"]>[0];

async function one(peer: ClientPeer, url: string, turn: OneTurn): Promise<Answer> {
  return (await peer.open(url)).turn(turn);
}

async function either(peer: ClientPeer, url: string, turn: Omit<OneTurn, "mode">): Promise<Answer> {
  return one(peer, url, { ...turn, mode: await modeOf(peer, url) });
}

/** `send` if the client supports it, because most clients show more then. */
async function modeOf(peer: ClientPeer, url: string): Promise<OneTurn["mode"]> {
  try {
    await one(peer, url, { text: "message: mode", mode: "send" });
    return "send";
  } catch (error) {
    if (error instanceof NotOffered) return "stream";
    throw error;
  }
}

function all({ text, raw = "" }: Answer): string {
  return `${text}${raw}`;
}
