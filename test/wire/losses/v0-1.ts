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
  messageId: { what: "the id of a message", becomes: "nothing; the server creates an id for each received message" },
  messageLinks: {
    what: "the task id, context id and reference tasks of a message",
    becomes: "nothing; the request has the task id and session id beside the message",
  },
  messageExtensions: { what: "the extensions of a message", becomes: "nothing" },
  namedFile: { what: "a file part with only a file name, which only 0.1 allows", becomes: "a data part" },
  artifactId: { what: "the id of an artifact", becomes: "its index in the task, in order of first appearance" },
  artifactExtensions: { what: "the extensions of an artifact", becomes: "nothing" },
  rejected: { what: "the state rejected", becomes: "failed" },
  authRequired: { what: "the state auth-required", becomes: "input-required" },
  reply: {
    what: "a message as the response, without a task",
    becomes: "a completed task with the message in its status",
  },
  taskInStream: {
    what: "a whole task in a stream",
    becomes: "one event for the status and one for each artifact, without the history",
  },
  eventContext: { what: "the context of an event", becomes: "nothing; the task has it as `sessionId`" },
  tenant: { what: "the tenant of a request", becomes: "nothing" },
  historyChoice: { what: "a request that does not state a history length", becomes: "a request for no history" },
  waiting: { what: "whether a send waits", becomes: "the default of the server" },
  pushId: { what: "the id of a webhook", becomes: "nothing; a task has one webhook" },
  cardInterfaces: { what: "all addresses of a card except one", becomes: "nothing" },
  cardSecurity: {
    what: "combinations of security schemes, and their scopes, flows and parameters",
    becomes: "the names of the schemes; for an API key also its location",
  },
  cardDetails: {
    what: "the icon, extensions and extended card of a card, and the security requirements of a skill",
    becomes: "nothing",
  },
  laterErrors: {
    what: "error codes that later versions introduced",
    becomes: "the nearest code; the `reason` in the error data is the original one",
  },
};
