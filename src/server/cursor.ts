import { invalidField } from "../protocol/error.ts";

/** The seq in a `Last-Event-ID` header; `undefined` if the header is absent. Throws `invalid-params` if it is not a seq. */
export function decodeCursor(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (!/^(0|[1-9]\d{0,14})$/.test(lastEventId))
    throw invalidField("Last-Event-ID", "is not the id of an event of this stream");
  return Number(lastEventId);
}
