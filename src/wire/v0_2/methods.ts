import { type MethodNames, METHOD_OF as NEWER } from "../v0_3/methods.ts";

/** As in 0.3, without the extended card, which clients of 0.2 fetch by a REST path (A2A 0.2 §7.10). */
export const METHOD_OF: MethodNames = { ...NEWER, "extended-card": undefined };
