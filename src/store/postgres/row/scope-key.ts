import { createHash } from "node:crypto";
import type { Scope } from "../../../protocol/principal.ts";

/** A digest of a scope, as a UUID: indexes stay narrow however long the names are. */
export function scopeKey({ agent, tenant, owner }: Scope): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([agent, tenant, owner]))
    .digest("hex");
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-${digest.slice(12, 16)}-${digest.slice(16, 20)}-${digest.slice(20, 32)}`;
}
