import type { Signer } from "../auth/create-signer.ts";
import type { NotificationSigner } from "./delivery.ts";

/** Signs notifications in the name of this server. `issuer` is where its keys are found, which may be known only once it listens. */
export function createNotificationSigner(signer: Signer, issuer: () => string): NotificationSigner {
  return {
    // Receivers compare it with their own clocks, so it is the system's time and not the engine's, which nobody can set.
    sign: ({ url, jti, taskId, body }) =>
      signer.signNotification({ issuer: issuer(), audience: url, jti, taskId, body, now: Date.now() }),
  };
}
