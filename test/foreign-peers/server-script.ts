import { TOKENS } from "./client-agent.ts";

/** The input of the agent behind another project's server. */
export interface AgentInput {
  readonly text: string;
  /** Number of bytes of all files in the message. */
  readonly fileBytes: number;
  /** The conversation id that the server passes to its agent; absent if the server passes none. */
  readonly conversation?: string;
  /** The message answers a question of this agent. */
  readonly isAnswer?: boolean;
}

/** The behaviour: write tokens, ask, fail, or work until stopped. */
export type Act =
  | { readonly kind: "write"; readonly tokens: readonly string[] }
  | { readonly kind: "ask"; readonly question: string }
  | { readonly kind: "fail"; readonly reason: string }
  | { readonly kind: "work" };

/**
 * The agent behind other projects' servers: the text of the message selects its behaviour. It counts the messages of
 * each conversation.
 */
export class ServerScript {
  readonly #counts = new Map<string, number>();

  act({ text, fileBytes, conversation, isAnswer = false }: AgentInput): Act {
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
