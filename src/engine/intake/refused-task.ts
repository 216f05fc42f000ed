import { A2AError } from "../../protocol/error.ts";
import type { WriterLoss } from "../log/writer-contract.ts";

/** What the caller is told whose new task did not come into the store. */
export function refusedTask(loss: WriterLoss | undefined, cause?: unknown): A2AError {
  const status = loss?.kind === "refused" ? loss.status : undefined;
  if (status === "full") return new A2AError("resource-exhausted", "The server may hold no more tasks.", { cause });
  if (status === "duplicate") return new A2AError("invalid-params", "There is a task of that id already.", { cause });
  return new A2AError("unavailable", "The task could not be stored; try again later.", { cause, retryAfter: 5 });
}
