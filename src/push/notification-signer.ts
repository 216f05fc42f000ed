import type { Signer } from "../auth/create-signer.ts";
import type { NotificationSigner } from "./delivery.ts";

/** Signs notifications with this server's key. `issuer` returns the URL at which receivers find the key; it may be known only once the server listens. */
export function createNotificationSigner(signer: Signer, issuer: () => string): NotificationSigner {
  return {
    // Receivers compare the time with their own clocks: use the system's wall clock, not the engine's monotonic one.
    sign: ({ url, jti, taskId, body }) =>
      signer.signNotification({ issuer: issuer(), audience: url, jti, taskId, body, now: Date.now() }),
  };
}
