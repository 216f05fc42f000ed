import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { OAuthCredentials, Token, TokenStore } from "../../client/credentials/contract.ts";
import { CliError } from "../cli-error.ts";
import { configFolder } from "../options/config-files.ts";

/** What `auth login` stores for later calls to the same agent. It does not include client secrets. */
export interface Login extends Pick<OAuthCredentials, "clientId" | "scopes" | "flow"> {
  /** By issuer, client and scopes. */
  readonly tokens: Readonly<Record<string, Token>>;
}

export function tokenFile(home: string): string {
  return join(configFolder(home), "tokens.json");
}

/** All logins, by agent. */
export function readLogins(home: string): Readonly<Record<string, Login>> {
  const path = tokenFile(home);
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

/** Stores or deletes the login of an agent. Only the owner may read the file; it is replaced atomically. */
export function storeLogin(home: string, agent: string, login: Login | undefined): void {
  const { [agent]: _before, ...others } = readLogins(home);
  const logins = login === undefined ? others : { ...others, [agent]: login };
  const path = tokenFile(home);
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(draft, { force: true });
    writeFileSync(draft, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
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
      storeLogin(home, agent, { ...login, tokens: { ...all(), [key]: token } });
    },
    delete(key) {
      const { [key]: _gone, ...others } = all();
      storeLogin(home, agent, { ...login, tokens: others });
    },
  };
}

/** The credentials of an earlier login to this agent; `undefined` if there was none. */
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
