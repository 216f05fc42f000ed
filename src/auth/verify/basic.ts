import { challengeOf } from "./challenge.ts";
import type { Verified, Verifier } from "./contract.ts";
import { badCredentials, credentialsByScheme } from "./request-credentials.ts";
import { type BasicUser, createUserCheck } from "./user-check.ts";

/** Either a table of users or a function. */
export type BasicOptions =
  | {
      /** Users by name, each with a password hash from `hashPassword`. */
      readonly users: Readonly<Record<string, BasicUser>>;
    }
  | {
      /** Checks a password; `undefined` if it is wrong. Must take equally long for known and unknown users. */
      readonly verify: (user: string, password: string) => Verified | undefined | Promise<Verified | undefined>;
    };

/** HTTP Basic authentication (RFC 7617). Use it only over TLS: name and password are not encrypted. Throws a `TypeError` for invalid users. */
export function basic(options: BasicOptions): Verifier {
  const check = "verify" in options ? options.verify : createUserCheck(options.users);
  return {
    scheme: { type: "http", scheme: "basic" },
    challenge: () => challengeOf("Basic", { charset: "UTF-8" }),
    async verify(request) {
      const shown = credentialsByScheme(request, "Basic");
      if (shown === undefined) return undefined;
      const [user, password] = decode(shown);
      const verified = await check(user, password);
      if (verified === undefined) throw badCredentials("wrong-password");
      return verified;
    },
  };
}

/** UTF-8, as the challenge announces (RFC 7617 §2.1). The password may contain colons, the name may not. */
function decode(shown: string): readonly [user: string, password: string] {
  let text: string;
  try {
    const bytes = Uint8Array.from(atob(shown), (character) => character.charCodeAt(0));
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw badCredentials("malformed", cause);
  }
  const colon = text.indexOf(":");
  if (colon <= 0) throw badCredentials("malformed");
  return [text.slice(0, colon), text.slice(colon + 1)];
}
