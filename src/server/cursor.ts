import { invalidField } from "../protocol/error.ts";

/** The seq a `Last-Event-ID` names; `undefined` where there is none. */
export function decodeCursor(lastEventId: string | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (!/^(0|[1-9]\d{0,14})$/.test(lastEventId))
    throw invalidField("Last-Event-ID", "is not the id of an event of this stream");
  return Number(lastEventId);
}
