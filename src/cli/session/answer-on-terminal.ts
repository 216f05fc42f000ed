import type { SendOptions } from "../../client/api.ts";
import type { CliContext } from "../context.ts";
import { askBySchema } from "./form.ts";
import type { Session } from "./session.ts";

/** Which questions are asked at once. */
export interface AskedQuestions {
  /** Questions without a schema that are not secret. False: they stay open, and the call ends with them. */
  readonly plain: boolean;
  /** The text of the question is on the screen already. Default false. */
  readonly isShown?: boolean;
  /** Default: that of the session. */
  readonly prompt?: CliContext["prompt"];
}

/**
 * Answers the questions of an agent by asking on the terminal: by their schema field by field, hidden if they are secret. An empty line, or the end of the input, leaves a
 * question open. `undefined`: there is no terminal.
 */
export function answerOnTerminal(session: Session, asked: AskedQuestions): SendOptions["onInput"] {
  const { progress } = session;
  const { plain, isShown = false, prompt = session.context.prompt } = asked;
  if (prompt === undefined) return undefined;
  return async ({ schema, text, sensitive }) => {
    const isForm = schema !== undefined && !sensitive;
    if (!isForm && !plain) return undefined;
    await progress.clear();
    progress.hold(true);
    try {
      if (!isShown) await session.note(text);
      if (isForm) {
        const data = await askBySchema(schema, { prompt, note: (line) => session.note(line) });
        return data === undefined ? undefined : [{ data }];
      }
      const line = await prompt(sensitive ? "answer (hidden)> " : "answer> ", { hidden: sensitive });
      return line === undefined || line.trim() === "" ? undefined : line;
    } finally {
      progress.hold(false);
    }
  };
}
