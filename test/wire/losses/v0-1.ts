import type { Loss } from "./loss.ts";

export const LOSS_NAMES = [
  "messageId",
  "messageLinks",
  "messageExtensions",
  "namedFile",
  "artifactId",
  "artifactExtensions",
  "rejected",
  "authRequired",
  "reply",
  "taskInStream",
  "eventContext",
  "tenant",
  "historyChoice",
  "waiting",
  "pushId",
  "cardInterfaces",
  "cardSecurity",
  "cardDetails",
  "laterErrors",
] as const;
export type LossName = (typeof LOSS_NAMES)[number];

/**
 * Information that 0.1 cannot encode. Everything else decodes to the encoded value: the media types and file names of text and data, for
 * example, are written into a part's metadata.
 */
export const LOSSES: Readonly<Record<LossName, Loss>> = {
  messageId: { what: "the id of a message", becomes: "nothing; one that comes in is given a new one" },
  messageLinks: {
    what: "the task, the context and the related tasks that a message names",
    becomes: "nothing; a request names its task and its session beside the message",
  },
  messageExtensions: { what: "the extensions of a message", becomes: "nothing" },
  namedFile: { what: "a file part that only names its file, which this version alone has", becomes: "a data part" },
  artifactId: { what: "the id of an artifact", becomes: "its number among those of its task, by first appearance" },
  artifactExtensions: { what: "the extensions of an artifact", becomes: "nothing" },
  rejected: { what: "the state rejected", becomes: "failed" },
  authRequired: { what: "the state auth-required", becomes: "input-required" },
  reply: { what: "a bare message as an answer", becomes: "a completed task whose status holds it" },
  taskInStream: {
    what: "a whole task in a stream",
    becomes: "an event for its status and one for each artifact; its history is left out",
  },
  eventContext: { what: "the context of an event", becomes: "nothing; the task names it as its session" },
  tenant: { what: "the tenant of a request", becomes: "nothing" },
  historyChoice: { what: "leaving it to the agent how much history to send", becomes: "none" },
  waiting: { what: "whether a send waits", becomes: "as the agent sees fit" },
  pushId: { what: "the id of a push configuration", becomes: "nothing; a task has one" },
  cardInterfaces: { what: "the addresses of a card but one", becomes: "nothing" },
  cardSecurity: {
    what: "how schemes are to be combined, their scopes, flows and parameters",
    becomes: "the names of the schemes; for an API key also where it goes",
  },
  cardDetails: { what: "a card's icon, extensions and extended card, and what a skill requires", becomes: "nothing" },
  laterErrors: {
    what: "the codes of errors that came with later versions",
    becomes: "the nearest code; the reason in the error's data still tells them apart",
  },
};
