import { type Notification, readNotification } from "../wire/push/notification.ts";

/** Parses the body of a notification of any version; `undefined` if it is not one. */
export function parseNotification(body: Uint8Array): Notification | undefined {
  try {
    return readNotification(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)));
  } catch {
    // Reported as `not-a-notification`, without quoting the body.
    return undefined;
  }
}
