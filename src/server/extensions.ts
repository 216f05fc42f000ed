import { A2AError } from "../protocol/error.ts";
import type { Call } from "./call.ts";
import type { Service } from "./service.ts";

/** Refuses a call that does not ask for what the agent cannot do without. */
export function requireExtensions({ card }: Service, call: Call): void {
  const missing: string[] = [];
  for (const { uri, required } of card.capabilities.extensions ?? []) {
    if (required === true && !call.extensions.includes(uri)) missing.push(uri);
  }
  if (missing.length === 0) return;
  throw new A2AError("extension-support-required", `This agent requires the extension ${missing.join(", ")}`, {
    metadata: { requiredExtensions: missing.join(",") },
  });
}

/** The extensions that are in force for this call: asked for and declared. */
export function activeExtensions({ card }: Service, call: Pick<Call, "extensions">): readonly string[] {
  const declared = card.capabilities.extensions;
  if (declared === undefined || call.extensions.length === 0) return [];
  return call.extensions.filter((uri) => declared.some((extension) => extension.uri === uri));
}
