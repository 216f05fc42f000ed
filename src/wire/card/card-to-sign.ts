import { isWireObject } from "../fields/fields.ts";
import { type SignedForm, signedForms } from "./signed-card.ts";

/**
 * The forms of a card to sign. A 1.0 or hybrid card gets one signature per form that verifiers may check (A2A 1.0 §8.4.3 allows several).
 * 0.3 has the member `signatures` (A2A 0.3 §5.5.6) but no rules for it, so a 0.3 card is signed as it is written. Earlier cards have no
 * signatures: the result is empty.
 */
export function formsToSign(card: unknown): readonly SignedForm[] {
  if (!isWireObject(card)) return [];
  const forms = signedForms(card);
  if (Object.hasOwn(card, "supportedInterfaces")) return forms;
  const { protocolVersion } = card;
  const hasSignatures = typeof protocolVersion === "string" && /^0\.3(\.|$)/.test(protocolVersion);
  return hasSignatures ? forms.filter(({ form }) => form === "as-written") : [];
}
