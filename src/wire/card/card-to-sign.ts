import { isWireObject } from "../fields/fields.ts";
import { type SignedForm, signedForms } from "./signed-card.ts";

/**
 * What of a card to sign, so that whoever follows any of the rules there are finds a signature that holds. Of cards in the form of 1.0, alone or beside
 * an older one, that is each form that verifiers may look for; of 0.3, which has the place for signatures and no rules, all that is
 * written. Cards before that have no place for them, and nothing of them is signed.
 */
export function formsToSign(card: unknown): readonly SignedForm[] {
  if (!isWireObject(card)) return [];
  const forms = signedForms(card);
  if (Object.hasOwn(card, "supportedInterfaces")) return forms;
  const { protocolVersion } = card;
  const hasPlace = typeof protocolVersion === "string" && /^0\.3(\.|$)/.test(protocolVersion);
  return hasPlace ? forms.filter(({ form }) => form === "as-written") : [];
}
