/**
 * What a card says of an agent that takes a message only once, however often it comes: its extensions have this among them. Its params
 * say for how long, as `windowSeconds`.
 */
export const IDEMPOTENT_SEND = "urn:palaver:extension:idempotent-send";
