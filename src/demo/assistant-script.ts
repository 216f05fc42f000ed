import type { ModelMessage } from "../adapters/models/model-contract.ts";
import { type ScriptedAnswer, textOfMessage } from "../adapters/models/scripted-model.ts";

const HELP = `I am a small script that replaces a language model. Try: "What time is it?", "What is 6 * 7?", "Remember that I like tea", "What do you know?", "Forget everything".`;

/** What the assistant answers without a real model. `problem`: why a configured model is not used. */
export function scriptedAnswer(messages: readonly ModelMessage[], problem: string | undefined): ScriptedAnswer {
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: afterTool(last) };
  const text = textOfMessage(last).trim();
  const expression = /-?[\d(][\d\s.()+*/-]*[-+*/][\d\s.()+*/-]*/.exec(text)?.[0];
  const [, note] = /^remember(?: that)?:?\s+(.+)$/is.exec(text) ?? [];
  if (note !== undefined) return { text: "I write that down.", calls: [{ name: "remember", input: { note } }] };
  if (/\bforget\b/i.test(text)) return { calls: [{ name: "forget" }] };
  if (/\b(time|date|day)\b/i.test(text)) return { calls: [{ name: "clock" }] };
  if (expression !== undefined) return { calls: [{ name: "calculate", input: { expression: expression.trim() } }] };
  if (/\b(know|remember|recall|say|said)\b/i.test(text))
    return { text: earlierMessages(messages), calls: [{ name: "recall" }] };
  return { text: problem === undefined ? HELP : `${HELP}\n\nThe configured model is not used: ${problem}` };
}

/** What the caller has said before in this conversation. */
function earlierMessages(messages: readonly ModelMessage[]): string {
  const earlier = messages.filter(({ role }) => role === "user").slice(0, -1);
  if (earlier.length === 0) return "This is your first message in this conversation.";
  return `Earlier in this conversation you said: ${earlier.map((message) => `“${textOfMessage(message)}”`).join(", ")}.`;
}

function afterTool({ content }: ModelMessage & { readonly role: "tool" }): string {
  return content
    .map(({ toolName, output }) => {
      const { value } = output;
      const text = typeof value === "string" ? value : JSON.stringify(value);
      if (output.type === "error-text") return `That did not work: ${text}`;
      if (toolName === "clock") return `It is ${text}.`;
      if (toolName === "calculate") return `The result is ${text}.`;
      if (toolName === "forget") return "Your notes are deleted.";
      const notes = Array.isArray(value) ? value : [];
      if (toolName === "remember") return `You have ${notes.length} ${notes.length === 1 ? "note" : "notes"} now.`;
      return notes.length === 0 ? "You have no notes." : `Your notes: ${notes.join("; ")}.`;
    })
    .join(" ");
}
