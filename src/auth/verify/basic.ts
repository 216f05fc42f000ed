import { challengeOf } from "./challenge.ts";
import type { Verified, Verifier } from "./contract.ts";
import { badCredentials, shownByScheme } from "./request-credentials.ts";
import { type BasicUser, createUserCheck } from "./user-check.ts";

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
      const shown = shownByScheme(request, "Basic");
      if (shown === undefined) return undefined;
      const [user, password] = decode(shown);
      const verified = await check(user, password);
      if (verified === undefined) throw badCredentials();
      return verified;
    },
  };
}

function decode(shown: string): readonly [user: string, password: string] {
  let text: string;
  try {
    const bytes = Uint8Array.from(atob(shown), (character) => character.charCodeAt(0));
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw badCredentials(cause);
  }
  const colon = text.indexOf(":");
  if (colon <= 0) throw badCredentials();
  return [text.slice(0, colon), text.slice(colon + 1)];
}
