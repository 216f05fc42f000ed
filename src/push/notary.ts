import type { Signer } from "../auth/create-signer.ts";
import type { Notary } from "./delivery.ts";

/** Signs notifications in the name of this server. `issuer` is where its keys are found, which may be known only once it listens. */
export function createNotary(signer: Signer, issuer: () => string): Notary {
  return {
    sign: ({ url, jti, taskId, body, issuedAt }) =>
      signer.signNotification({ issuer: issuer(), audience: url, jti, taskId, body, now: issuedAt }),
  };
}
