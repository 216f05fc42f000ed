import { canonicalJson } from "../../auth/canonical-json.ts";
import type { Signer } from "../../auth/create-signer.ts";
import { formsToSign } from "../../wire/card/card-to-sign.ts";

/** Signs a card as it is served; one of a version that knows no signatures stays as it is. `jku` is where the keys are published. */
export async function signCard(text: string, signer: Signer, jku: string): Promise<string> {
  const card: unknown = JSON.parse(text);
  const forms = formsToSign(card);
  if (forms.length === 0) return text;
  // Mostly they are all the same.
  const payloads = new Set(forms.map(({ json }) => canonicalJson(json)));
  const signatures = await Promise.all(Array.from(payloads, (payload) => signer.signCard(payload, { jku })));
  return JSON.stringify({ ...Object(card), signatures });
}
