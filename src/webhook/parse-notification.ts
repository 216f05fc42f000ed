import { type Notification, readNotification } from "../wire/push/notification.ts";

/** What a body says; `undefined` where it is no notification of any version. */
export function parseNotification(body: Uint8Array): Notification | undefined {
  try {
    return readNotification(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)));
  } catch {
    // Told as `not-a-notification`; what it holds is nobody's business.
    return undefined;
  }
}
