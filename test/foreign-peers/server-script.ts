import { TOKENS } from "./client-agent.ts";

/** What the agent behind a foreign server is given. */
export interface Heard {
  readonly text: string;
  /** Bytes of all files in the message. */
  readonly fileBytes: number;
  /** What the server gives to its agent as the conversation; absent where the server gives none. */
  readonly conversation?: string;
  /** The message answers a question of this agent. */
  readonly isAnswer?: boolean;
}

/** What it does: it writes tokens, asks, fails, or works until it is stopped. */
export type Act =
  | { readonly kind: "write"; readonly tokens: readonly string[] }
  | { readonly kind: "ask"; readonly question: string }
  | { readonly kind: "fail"; readonly reason: string }
  | { readonly kind: "work" };

/** The agent behind the servers of others: the text of the message says what it does. It counts the messages of each conversation. */
export class ServerScript {
  readonly #counts = new Map<string, number>();

  act({ text, fileBytes, conversation, isAnswer = false }: Heard): Act {
    if (isAnswer) return { kind: "write", tokens: ["Hello", ", ", text, "."] };
    const count = (this.#counts.get(conversation ?? "") ?? 0) + 1;
    if (conversation !== undefined) this.#counts.set(conversation, count);
    if (text === "tokens") return { kind: "write", tokens: TOKENS };
    if (text === "count") return { kind: "write", tokens: [`Message ${conversation === undefined ? 1 : count}`] };
    if (text === "measure") return { kind: "write", tokens: [`${fileBytes} bytes`] };
    if (text === "ask") return { kind: "ask", question: "What is your name?" };
    if (text === "fail") return { kind: "fail", reason: "The agent broke." };
    if (text === "wait") return { kind: "work" };
    return { kind: "write", tokens: ["You said: ", text] };
  }
}
