import { hostname } from "node:os";
import { withoutTrailing } from "../../internal/without-trailing.ts";
import { EVERYTHING, type Sampler } from "../../telemetry/spans/sampler.ts";
import { StartupError } from "../startup-error.ts";
import { packageVersion } from "../version.ts";

/** Where traces are sent, and which. */
export interface OtlpSettings {
  /** With the path of the traces. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
  /** Milliseconds for one request. */
  readonly timeout: number;
}

/**
 * Reads the standard variables of OpenTelemetry. `endpoint` takes precedence over `OTEL_EXPORTER_OTLP_ENDPOINT`. `undefined`: traces are not
 * exported. Throws a {@link StartupError} for invalid values.
 */
export function otlpSettingsFrom(endpoint: string | undefined, env: NodeJS.ProcessEnv): OtlpSettings | undefined {
  const { OTEL_SDK_DISABLED: disabled, OTEL_TRACES_EXPORTER: exporter } = env;
  if (endpoint === undefined && (disabled?.toLowerCase() === "true" || exporter === "none")) return undefined;
  const whole = endpoint === undefined ? env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] : undefined;
  const base = endpoint ?? env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const given = whole || base;
  if (!given) return undefined;
  const { url, authorization } = collectorUrl(given, { isWhole: Boolean(whole) });
  const named = { ...pairs("OTEL_EXPORTER_OTLP_HEADERS", env), ...pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS", env) };
  const headers = Object.fromEntries(Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    url,
    headers: authorization === undefined ? headers : { authorization, ...headers },
    resource: resourceFrom(env),
    sampler: samplerFrom(env),
    timeout: timeoutFrom(env["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"] ?? env["OTEL_EXPORTER_OTLP_TIMEOUT"]),
  };
}

/** User and password of a URL become a header: `fetch` accepts no URL with them. */
function collectorUrl(given: string, { isWhole }: { readonly isWhole: boolean }) {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new StartupError("usage", "The address of the OTLP collector must be like http://127.0.0.1:4318.");
  }
  const { username, password } = url;
  url.username = "";
  url.password = "";
  if (!isWhole && !url.pathname.endsWith("/v1/traces"))
    url.pathname = `${withoutTrailing(url.pathname, "/")}/v1/traces`;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = username === "" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
  return { url: url.href, authorization };
}

/** `a=1,b=2`, with values in percent-encoding. */
function pairs(name: string, env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const text = env[name]?.trim();
  if (!text) return {};
  return Object.fromEntries(
    text.split(",").map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new StartupError("usage", `${name} must be like name=value,name=value.`);
      return [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
    }),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function resourceFrom(env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  return {
    "host.name": hostname(),
    "process.pid": String(process.pid),
    "telemetry.sdk.name": "palaver",
    "telemetry.sdk.version": packageVersion(),
    "service.name": "palaver",
    ...pairs("OTEL_RESOURCE_ATTRIBUTES", env),
    ...(env["OTEL_SERVICE_NAME"] && { "service.name": env["OTEL_SERVICE_NAME"] }),
  };
}

function samplerFrom(env: NodeJS.ProcessEnv): Sampler {
  const name = env["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  const byParent = name.startsWith("parentbased_");
  switch (name.replace("parentbased_", "")) {
    case "always_on":
      return { ...EVERYTHING, byParent };
    case "always_off":
      return { ratio: 0, byParent };
    case "traceidratio":
      return { ratio: ratioFrom(env["OTEL_TRACES_SAMPLER_ARG"]), byParent };
    default:
      throw new StartupError(
        "usage",
        `OTEL_TRACES_SAMPLER must be always_on, always_off, traceidratio, or one of them after parentbased_, not ${name}.`,
      );
  }
}

function ratioFrom(text: string | undefined): number {
  if (!text) return 1;
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new StartupError("usage", `OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not ${text}.`);
}

function timeoutFrom(text: string | undefined): number {
  if (!text) return 10_000;
  const timeout = Number(text);
  if (Number.isInteger(timeout) && timeout > 0) return timeout;
  throw new StartupError("usage", `OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds, not ${text}.`);
}
