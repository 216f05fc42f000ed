import { A2AError } from "../protocol/error.ts";

export function tooLarge(limit: number): A2AError {
  return new A2AError("payload-too-large", `The body must not be larger than ${limit} bytes`);
}

export function incompleteBody(cause: unknown): A2AError {
  return new A2AError("parse-error", "The body ended too early", { cause });
}
