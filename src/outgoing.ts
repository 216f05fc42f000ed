export type { Lookup, Outgoing, OutgoingInit, OutgoingOptions, OutgoingRules } from "./outgoing/contract.ts";
export { createOutgoing } from "./outgoing/create-outgoing.ts";
export { type FailureCode, OutgoingFailure, OutgoingRefused, type RefusalCode } from "./outgoing/errors.ts";
