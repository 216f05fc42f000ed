/**
 * URI of the extension with which a card declares idempotent sends: a repeated message gets the earlier task. Its `params.windowSeconds` is the
 * idempotency window.
 */
export const IDEMPOTENT_SEND = "urn:palaver:extension:idempotent-send";
