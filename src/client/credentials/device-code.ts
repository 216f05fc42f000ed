import type { Clock } from "../../internal/clock.ts";
import { pause } from "../http/abort.ts";
import { RemoteError } from "../http/errors.ts";
import type { DevicePrompt, Token } from "./contract.ts";
import { postForm, requestToken, scopeParameter, type TokenContext, TokenRefusal } from "./token-request.ts";

/** The first answer of the authorization server (RFC 8628 §3.2). */
interface DeviceGrant {
  readonly deviceCode: string;
  readonly prompt: DevicePrompt;
  /** Milliseconds between polls. */
  readonly interval: number;
}

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";
/** Milliseconds to add after `slow_down` (RFC 8628 §3.5). */
const SLOWER = 5000;

/** Gets a token with the device code flow (RFC 8628). Resolves when the user has agreed on another device. */
export async function requestDeviceToken(context: TokenContext, clock: Clock): Promise<Token> {
  const grant = await beginGrant(context);
  const { signal } = context.fetching;
  await context.credentials.onDeviceCode?.(grant.prompt);
  let { interval } = grant;
  for (;;) {
    await pause(clock, interval, signal);
    if (clock.now() >= grant.prompt.expiresAt)
      throw new RemoteError("no-credentials", "The code expired before the user entered it.");
    try {
      return await requestToken({ grant_type: GRANT_TYPE, device_code: grant.deviceCode }, context);
    } catch (error) {
      const isSlow = isRefusal(error, "slow_down") || isUnreachable(error);
      if (!isSlow && !isRefusal(error, "authorization_pending")) throw error;
      if (isSlow) interval += SLOWER;
    }
  }
}

function isRefusal(error: unknown, code: string): boolean {
  return error instanceof TokenRefusal && error.error === code;
}

/** A single network error while polling does not end the flow. */
function isUnreachable(error: unknown): boolean {
  return error instanceof RemoteError && error.code === "network";
}

/** Defaults for missing members: the code is valid for 10 minutes, polls are 5 seconds apart. */
async function beginGrant(context: TokenContext): Promise<DeviceGrant> {
  const { server, scopes, now } = context;
  const json = await postForm(server.deviceAuthorizationUrl ?? "", scopeParameter(scopes), context);
  const { device_code: deviceCode, user_code: userCode, verification_uri_complete: complete, interval } = json;
  // Some servers use the name from drafts of the RFC.
  const verificationUri = json["verification_uri"] ?? json["verification_url"];
  if (typeof deviceCode !== "string" || typeof userCode !== "string" || typeof verificationUri !== "string") {
    throw new RemoteError("no-credentials", "The authorization server's response has no device code.");
  }
  const lifetime = Number(json["expires_in"] ?? 600);
  return {
    deviceCode,
    prompt: {
      userCode,
      verificationUri,
      ...(typeof complete === "string" && { verificationUriComplete: complete }),
      expiresAt: now() + (lifetime > 0 ? lifetime : 600) * 1000,
    },
    interval: typeof interval === "number" && interval > 0 ? interval * 1000 : SLOWER,
  };
}
