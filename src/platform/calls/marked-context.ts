import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

const VISIBLE = 9;

/**
 * Context ids for calls of agents on other servers. They look random, but this server recognises its own: an agent that forwards a message and keeps
 * only its context is still seen as part of the tree.
 */
export class MarkedContexts {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** A new context id for calls of the agent with this entry in call paths. A UUID of version 8. */
  create(entry: string): string {
    const bytes = randomBytes(16);
    // Version and variant of a UUID.
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    this.#mark(bytes.subarray(0, VISIBLE), entry).copy(bytes, VISIBLE);
    const hex = bytes.toString("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }

  /** Which of these entries has created the context id; `undefined`: none of them. */
  creatorOf(contextId: string, entries: Iterable<string>): string | undefined {
    if (!UUID_8.test(contextId)) return undefined;
    const bytes = Buffer.from(contextId.replaceAll("-", ""), "hex");
    const mark = bytes.subarray(VISIBLE);
    for (const entry of entries) if (timingSafeEqual(this.#mark(bytes.subarray(0, VISIBLE), entry), mark)) return entry;
    return undefined;
  }

  #mark(visible: Uint8Array, entry: string): Buffer {
    const mark = createHmac("sha256", this.#secret)
      .update("palaver call context ")
      .update(visible)
      .update(entry)
      .digest();
    return mark.subarray(0, 16 - VISIBLE);
  }
}

const UUID_8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
