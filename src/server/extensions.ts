import { A2AError } from "../protocol/error.ts";
import type { Call } from "./call.ts";
import type { Service } from "./service.ts";

/**
 * Sets `call.activeExtensions` to the extensions that the caller requested and the agent declares. Throws `extension-support-required`
 * if the caller did not request an extension that the agent requires (A2A 1.0 §3.3.4).
 */
export function negotiateExtensions({ card }: Service, call: Call): void {
  const declared = card.capabilities.extensions;
  if (declared === undefined) return;
  const missing: string[] = [];
  for (const { uri, required } of declared) {
    if (required === true && !call.requestedExtensions.includes(uri)) missing.push(uri);
  }
  if (missing.length === 0) {
    call.activeExtensions = call.requestedExtensions.filter((uri) =>
      declared.some((extension) => extension.uri === uri),
    );
    return;
  }
  throw new A2AError("extension-support-required", `This agent requires the extension ${missing.join(", ")}`, {
    metadata: { requiredExtensions: missing.join(",") },
  });
}
