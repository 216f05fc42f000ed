import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { modelAgent, textOfMessage, tool } from "palaver/models";
import { z } from "zod";
import { modelOr } from "./model.ts";

interface Passage {
  readonly file: string;
  readonly text: string;
}

const FOLDER = process.env["DOCUMENTS"] ?? join(import.meta.dirname, "documents");

/** The paragraphs of all Markdown files in the folder. */
const passages: readonly Passage[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".md"))
  .flatMap((file) =>
    readFileSync(join(FOLDER, file), "utf8")
      .split(/\n\s*\n/)
      .map((text) => ({ file, text: text.trim() })),
  );

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/\p{L}{3,}/gu));

/** The passages that share most words with the question; rare words count more. Replace it by your vector store. */
function find(question: string, count: number): readonly Passage[] {
  const asked = wordsOf(question);
  const weight = (word: string): number => 1 / passages.filter(({ text }) => wordsOf(text).has(word)).length;
  const score = ({ text }: Passage): number => {
    let total = 0;
    for (const word of wordsOf(text)) if (asked.has(word)) total += weight(word);
    return total;
  };
  return passages
    .map((passage) => ({ passage, score: score(passage) }))
    .filter((found) => found.score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, count)
    .map(({ passage }) => passage);
}

/** Answers from the files of a folder (retrieval-augmented generation). */
export default modelAgent({
  name: "Handbook",
  description: "Answers questions about the documents in a folder.",
  version: "1.0.0",
  instructions: "Answer only from the passages that the tool returns. Name the file. If they do not help, say so.",
  tools: {
    find_passages: tool({
      description: "Finds passages of the documents for a question.",
      input: z.object({ question: z.string() }),
      repeatable: true,
      execute: ({ question }) => find(question, 3).map(({ file, text }) => ({ file, text })),
    }),
  },
  model: modelOr((messages) => {
    const last = messages.at(-1);
    if (last?.role !== "tool") return { calls: [{ name: "find_passages", input: { question: textOfMessage(last) } }] };
    const found = z.array(z.object({ file: z.string(), text: z.string() })).parse(last.content[0]?.output.value);
    const [best] = found;
    return { text: best === undefined ? "The documents say nothing about that." : `${best.text} (${best.file})` };
  }),
});
