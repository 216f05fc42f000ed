import { resolve } from "node:path";
import type { Logger } from "../../internal/logger.ts";
import type { Store } from "../../store/contract.ts";
import { traceWithProvider } from "../observe/load-otel.ts";
import type { Tracing } from "./export-spans.ts";
import { otlpSettingsFrom } from "./otlp-settings.ts";

export interface TracingOptions {
  /** As `--otlp`. */
  readonly otlp: string | undefined;
  /** Spans are kept in it until they are sent. `undefined`: a crash loses the latest. */
  readonly spanFile: string | undefined;
  readonly logger: Logger;
  readonly env?: NodeJS.ProcessEnv;
}

/** The file of the spans that were not sent, beside a SQLite store. */
export function spanFileOf(store: string | Store): string | undefined {
  const file = typeof store === "string" ? /^sqlite:(.+)$/.exec(store)?.[1] : undefined;
  return file === undefined ? undefined : `${resolve(file)}.spans`;
}

/**
 * Traces to the collector that `otlp` names; else with the operator's OpenTelemetry SDK, if one is registered; else to the collector that the
 * environment names; else `undefined`. The SDK comes before the environment because it reads the same variables.
 */
export async function startTracing({
  otlp,
  spanFile,
  logger,
  env = process.env,
}: TracingOptions): Promise<Tracing | undefined> {
  const sdk = otlp === undefined ? await traceWithProvider() : undefined;
  if (sdk !== undefined) return { telemetry: sdk, store: (store) => store, close: () => Promise.resolve() };
  const settings = otlpSettingsFrom(otlp, env);
  if (settings === undefined) return undefined;
  // Loaded only if it is used.
  const { exportSpans } = await import("./export-spans.ts");
  return exportSpans(settings, { spanFile, logger });
}
