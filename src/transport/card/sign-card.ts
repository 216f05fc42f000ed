import { canonicalJson } from "../../auth/canonical-json.ts";
import type { Signer } from "../../auth/create-signer.ts";
import { formsToSign } from "../../wire/card/card-to-sign.ts";

/** Signs an encoded card; a card of a version without signatures stays as it is. `jku`: the URL of the published keys. */
export async function signCard(text: string, signer: Signer, jku: string): Promise<string> {
  const card: unknown = JSON.parse(text);
  const forms = formsToSign(card);
  if (forms.length === 0) return text;
  // Usually all cards are equal.
  const payloads = new Set(forms.map(({ json }) => canonicalJson(json)));
  const signatures = await Promise.all(Array.from(payloads, (payload) => signer.signCard(payload, { jku })));
  return JSON.stringify({ ...Object(card), signatures });
}
