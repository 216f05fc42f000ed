import { modelAgent, textOfMessage, tool } from "palaver/models";
import { z } from "zod";
import { modelOr } from "./model.ts";

/** Stands for the web. */
const PAGES: Readonly<Record<string, string>> = {
  "https://example.org/whales": "Blue whales are up to 33 m long. They eat krill.",
  "https://example.org/sharks": "Whale sharks are the largest fish: up to 18 m.",
};

/** A researcher: finds pages, reads them at the same time, and answers with its sources. */
export default modelAgent({
  name: "Researcher",
  description: "Answers questions from pages that it finds, with sources.",
  version: "1.0.0",
  instructions: "Search, read what looks promising, then answer with the addresses of your sources.",
  maxModelCalls: 8,
  tools: {
    search: tool({
      description: "Finds pages with a word.",
      input: z.object({ word: z.string() }),
      repeatable: true,
      execute: ({ word }) =>
        Object.entries(PAGES).flatMap(([url, text]) => (text.toLowerCase().includes(word.toLowerCase()) ? url : [])),
    }),
    read: tool({
      description: "Reads a page.",
      input: z.object({ url: z.string() }),
      repeatable: true,
      timeout: 10_000,
      execute: ({ url }) => ({ url, text: PAGES[url] ?? "There is no such page." }),
    }),
  },
  model: modelOr((messages) => {
    const last = messages.at(-1);
    if (last?.role !== "tool") {
      const word =
        textOfMessage(last)
          .split(/\W+/)
          .findLast((text) => text.length > 3) ?? "";
      return { text: `I search for “${word}”.`, calls: [{ name: "search", input: { word } }] };
    }
    if (last.content[0]?.toolName === "search") {
      const urls = z.array(z.string()).parse(last.content[0].output.value);
      return urls.length === 0
        ? { text: "I found nothing." }
        : { calls: urls.map((url) => ({ name: "read", input: { url } })) };
    }
    return { text: last.content.map((content) => summary(content.output.value)).join("\n") };
  }),
});

function summary(value: unknown): string {
  const { url, text } = z.object({ url: z.string(), text: z.string() }).parse(value);
  return `${text} (${url})`;
}
