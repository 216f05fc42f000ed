import { type MethodNames, METHOD_OF as NEWER } from "../v0_3/methods.ts";

/** As the next version calls them. The extended card has no method yet: it is fetched by a path of its own. */
export const METHOD_OF: MethodNames = { ...NEWER, "extended-card": undefined };
