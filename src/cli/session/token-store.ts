import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { OAuthCredentials, Token, TokenStore } from "../../client/credentials/contract.ts";
import { changeFile } from "../../platform/security/locked-file.ts";
import { CliError } from "../cli-error.ts";
import { configFolder } from "../options/config-files.ts";

/** What `auth login` stores for later calls to the same agent. It does not include client secrets. */
export interface Login extends Pick<OAuthCredentials, "clientId" | "scopes" | "flow"> {
  /** By issuer, client and scopes. */
  readonly tokens: Readonly<Record<string, Token>>;
}

/** Beside the user's settings. */
export function tokenFile(home: string): string {
  return join(configFolder(home), "tokens.json");
}

/** All logins, by agent; empty if nobody has logged in. Throws a `CliError` if the file cannot be read. */
export function readLogins(home: string): Readonly<Record<string, Login>> {
  return readFile(tokenFile(home));
}

function readFile(path: string): Readonly<Record<string, Login>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new CliError("A2ACLI_ERR_INTERNAL", `${path} cannot be read.`, { cause: error });
  }
  try {
    // Safe: this program writes the file.
    return JSON.parse(text) as Record<string, Login>;
  } catch (error) {
    throw new CliError("A2ACLI_ERR_INTERNAL", `${path} is not valid JSON.`, {
      hint: "Fix or delete the file.",
      cause: error,
    });
  }
}

/** Deletes the login of an agent. */
export function deleteLogin(home: string, agent: string): void {
  changeLogin(home, agent, () => undefined);
}

/**
 * Changes or deletes the login of an agent, under a lock: other processes may log in at the same time. Only the owner may read the file; it is
 * replaced atomically. Throws a `CliError` if the file cannot be written.
 */
function changeLogin(home: string, agent: string, change: (before: Login | undefined) => Login | undefined): void {
  const path = tokenFile(home);
  try {
    changeFile(path, (place) => {
      if (existsSync(place)) chmodSync(place, 0o600);
      const { [agent]: before, ...others } = readFile(place);
      const login = change(before);
      return `${JSON.stringify(login === undefined ? others : { ...others, [agent]: login }, null, 2)}\n`;
    });
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError("A2ACLI_ERR_INTERNAL", `The token could not be written to ${path}.`, { cause: error });
  }
}

/** Whether other users can read the file. Always false on Windows, where files have no modes. */
export function isReadableByOthers(path: string): boolean {
  if (process.platform === "win32") return false;
  try {
    return (statSync(path).mode & 0o077) !== 0;
  } catch {
    return false;
  }
}

/** Whose tokens, and where. */
export interface StoredTokensOptions {
  readonly home: string;
  readonly agent: string;
  readonly login: Omit<Login, "tokens">;
  /** Called for every token that is read or written. */
  readonly onToken: (token: Token) => void;
}

/** The tokens of one agent, stored in the file. */
export function storedTokens({ home, agent, login, onToken }: StoredTokensOptions): TokenStore {
  const all = (): Login["tokens"] => readLogins(home)[agent]?.tokens ?? {};
  return {
    get(key) {
      const token = all()[key];
      if (token !== undefined) onToken(token);
      return token;
    },
    set(key, token) {
      onToken(token);
      changeLogin(home, agent, (before) => ({ ...login, tokens: { ...before?.tokens, [key]: token } }));
    },
    delete(key) {
      changeLogin(home, agent, (before) => {
        const { [key]: _gone, ...others } = before?.tokens ?? {};
        return { ...login, tokens: others };
      });
    },
  };
}

/**
 * The credentials of an earlier login to this agent; `undefined` if there was none. They refresh an expired token, but never start a new
 * login in the middle of another command.
 */
export function storedCredentials(
  { home, agent, onToken }: Omit<StoredTokensOptions, "login">,
  clientSecret: string | undefined,
): OAuthCredentials | undefined {
  const stored = readLogins(home)[agent];
  if (stored === undefined) return undefined;
  const path = tokenFile(home);
  if (isReadableByOthers(path)) {
    throw new CliError("A2ACLI_ERR_CREDENTIALS_MISSING", `Other users can read ${path}, so it is not used.`, {
      hint: `chmod 600 ${path}`,
    });
  }
  const { tokens: _, ...login } = stored;
  return {
    ...login,
    ...(clientSecret !== undefined && { clientSecret }),
    tokens: storedTokens({ home, agent, login, onToken }),
    onDeviceCode() {
      throw new CliError("A2ACLI_ERR_CREDENTIALS_MISSING", `The token for ${agent} has expired.`, {
        hint: `palaver auth login -a ${agent}`,
      });
    },
  };
}
