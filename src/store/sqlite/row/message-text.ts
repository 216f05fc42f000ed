import type { HistoryEntry } from "../../contract.ts";

/** The messages of a task's first commit as lines of `after` TAB `body`; `undefined` if this form cannot hold them. */
export function joinMessages(messages: readonly HistoryEntry[]): string | undefined {
  let text = "";
  for (const { after, body, inbox } of messages) {
    if (inbox !== undefined) return undefined;
    text += text === "" ? `${after}\t${body}` : `\n${after}\t${body}`;
  }
  return text;
}

export function splitMessages(text: string): HistoryEntry[] {
  return text.split("\n").map((line) => {
    const tab = line.indexOf("\t");
    return { after: Number(line.slice(0, tab)), body: line.slice(tab + 1) };
  });
}
