import type { Operation } from "../../protocol/operation.ts";
import type { AnswerKind } from "../answers/answers.ts";
import type { ServedCall } from "../call/served-call.ts";
import type { Endpoint } from "../endpoint.ts";

/** Operations that have changed something by the time they answer. */
const AFTER_WORK: ReadonlySet<Operation | undefined> = new Set(["send", "stream", "cancel", "push-create"]);

/** How the longer answer to this call counts, and what happens if it cannot be completed. */
export function answerKind({ environment }: Endpoint, { operation }: ServedCall): AnswerKind {
  return {
    afterWork: AFTER_WORK.has(operation),
    ended: (error) => {
      if (error !== undefined) environment.logger.error("An answer could not be completed", { error });
    },
  };
}
