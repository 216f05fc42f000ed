import type { OperatorPolicy } from "../../transport/operator/operator-access.ts";
import { MIN_TOKEN } from "../observe/operator-file.ts";
import { LOG_FORMATS, type LogFormat } from "../observe/request-log.ts";
import { StartupError } from "../startup-error.ts";

/** How operators see what a server does. */
export interface ObserveOptions {
  /**
   * Metrics at `/metrics`, in the text format of Prometheus, and for an OpenTelemetry `MeterProvider` if one is registered. `token`: callers need it, as
   * `Authorization: Bearer`; without a token only programs on this machine may read them. `false`: none. Default: on, with the token in
   * `METRICS_TOKEN`, if set.
   */
  readonly metrics?: false | { readonly token?: string | undefined } | undefined;
  /**
   * The operator API at `/operator/v1`. `policy`: callers that `security` authenticates may use it from other machines if they have these scopes and
   * claims. `token`: for programs on this machine; default: the one in the file `<store>.operator.json`, and without a SQLite store none. `false`: no
   * operator API. Default: on.
   */
  readonly operator?:
    | false
    | { readonly policy?: OperatorPolicy | undefined; readonly token?: string | undefined }
    | undefined;
  /**
   * The console at `/console`, a web page for people. Browsers that open the server or an agent are sent there. It is shown on this machine, and elsewhere
   * only with `operator.policy`. It needs the operator API. Default true.
   */
  readonly console?: boolean | undefined;
  /** Write one line per call to standard error: `pretty` for people, `json` for programs. Default: no such lines. */
  readonly requestLog?: LogFormat | false | undefined;
}

/** After validation. */
export interface ObserveSettings {
  readonly metrics: { readonly token: string | undefined } | undefined;
  readonly operator: { readonly policy: OperatorPolicy | undefined; readonly token: string | undefined } | undefined;
  readonly console: boolean;
  readonly requestLog: LogFormat | undefined;
}

/** Throws a {@link StartupError} of kind `usage` for invalid values. */
export function observeSettingsFrom(
  { metrics, operator, requestLog, console = true }: ObserveOptions,
  { env, hasSecurity }: { readonly env: NodeJS.ProcessEnv; readonly hasSecurity: boolean },
): ObserveSettings {
  const metricsToken = metrics === false ? undefined : (metrics?.token ?? (env["METRICS_TOKEN"] || undefined));
  checkToken("metrics.token (METRICS_TOKEN)", metricsToken);
  if (requestLog !== undefined && requestLog !== false && !LOG_FORMATS.includes(requestLog))
    throw new StartupError(
      "usage",
      `requestLog must be ${LOG_FORMATS.join(" or ")}, not ${JSON.stringify(requestLog)}.`,
    );
  if (operator !== undefined && operator !== false) {
    checkToken("operator.token", operator.token);
    checkPolicy(operator.policy, hasSecurity);
  }
  return {
    metrics: metrics === false ? undefined : { token: metricsToken },
    operator: operator === false ? undefined : { policy: operator?.policy, token: operator?.token },
    console: console && operator !== false,
    requestLog: requestLog === false ? undefined : requestLog,
  };
}

const TOKEN = /^[\w.~+/-]+=*$/;

function checkToken(name: string, token: string | undefined): void {
  if (token === undefined) return;
  if (typeof token === "string" && token.length >= MIN_TOKEN && token.length <= 400 && TOKEN.test(token)) return;
  throw new StartupError(
    "usage",
    `${name} must have ${MIN_TOKEN} to 400 letters, digits, or characters of - . _ ~ + /.\nMake one: openssl rand -hex 32`,
  );
}

/** A policy that requires nothing would let every caller in. */
function checkPolicy(policy: OperatorPolicy | undefined, hasSecurity: boolean): void {
  if (policy === undefined) return;
  if (!hasSecurity) throw new StartupError("usage", "operator.policy needs `security`: it says who the caller is.");
  const { scopes = [], claims = {} } = policy;
  if (scopes.length === 0 && Object.keys(claims).length === 0)
    throw new StartupError("usage", "operator.policy must require at least one scope or claim.");
}
