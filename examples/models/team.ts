import { type Agent, team } from "palaver";
import { agentTools, modelAgent, textOfMessage } from "palaver/models";
import { z } from "zod";
import { modelOr } from "./model.ts";

/** Serve all: `palaver serve examples/models/team.ts`. A model decides which of the other agents it calls. */
const headline = modelAgent({
  name: "Headline",
  description: "Finds a headline for a text.",
  version: "1.0.0",
  instructions: "Answer with one short headline for the text, nothing else.",
  model: modelOr((messages) => ({ text: textOfMessage(messages.at(-1)).split(" ").slice(0, 3).join(" ") })),
});

const capitals = modelAgent({
  name: "Capitals",
  description: "Writes a text in capital letters.",
  version: "1.0.0",
  instructions: "Repeat the text in capital letters.",
  model: modelOr((messages) => ({ text: textOfMessage(messages.at(-1)).toUpperCase() })),
});

/** One after the other, each with the result of the one before. */
const poster = team({
  name: "Poster",
  description: "Makes a poster: a headline in capital letters.",
  version: "1.0.0",
  pattern: "pipeline",
  agents: { headline, capitals },
});

const assistant = modelAgent({
  name: "Assistant",
  description: "Makes posters of texts, and answers everything else itself.",
  version: "1.0.0",
  instructions: "If the user wants a poster, call the tool with the text for it. Else answer in one sentence.",
  tools: agentTools({ poster: { agent: "poster", description: "Makes a poster of a text." } }),
  model: modelOr((messages) => {
    const last = messages.at(-1);
    if (last?.role === "tool")
      return { text: `Here is your poster: ${z.string().parse(last.content[0]?.output.value)}` };
    const [, text] = /poster: (.+)/i.exec(textOfMessage(last)) ?? [];
    return text === undefined
      ? { text: "Write “poster:” and a text." }
      : { calls: [{ name: "poster", input: { message: text } }] };
  }),
});

const agents: readonly Agent[] = [assistant, poster, headline, capitals];
export default agents;
