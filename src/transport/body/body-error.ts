import { A2AError } from "../../protocol/error.ts";

export function tooLarge(limit: number): A2AError {
  return new A2AError("payload-too-large", `The body must not be larger than ${limit} bytes`);
}

/** For a body that was dropped in favour of faster ones. */
export function droppedBody(): A2AError {
  return new A2AError(
    "unavailable",
    "Too many request bodies are arriving, and this one was the slowest; try again in 5 s",
  );
}

export function incompleteBody(cause: unknown): A2AError {
  return new A2AError("parse-error", "The body is incomplete", { cause });
}
