import { modelAgent, textOfMessage } from "palaver/models";
import { modelOr } from "./model.ts";

/** A chat that remembers: send further messages with the same context id (`palaver send --context-id …`). */
export default modelAgent({
  name: "Chat",
  description: "Talks, and remembers the conversation.",
  version: "1.0.0",
  instructions: "You are a friendly partner in conversation. Answer in one or two sentences.",
  history: { limit: 100, maxTokens: 4000 },
  model: modelOr((messages) => {
    const said = messages.filter(({ role }) => role === "user").map(textOfMessage);
    const name = said.map((text) => /my name is (\w+)/i.exec(text)?.[1]).findLast((found) => found !== undefined);
    const last = said.at(-1) ?? "";
    if (/my name is/i.test(last)) return { text: `Nice to meet you, ${name}.` };
    if (/what is my name/i.test(last))
      return { text: name === undefined ? "You have not told me." : `You are ${name}.` };
    return { text: `You have sent ${said.length} messages in this conversation.` };
  }),
});
