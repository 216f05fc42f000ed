import { resolve } from "node:path";
import type { Logger } from "../../internal/logger.ts";
import type { CommitKey, Outcome, Store, StoreOperation } from "../../store/contract.ts";
import { StoreWrapper } from "../../store/store-wrapper.ts";
import type { Telemetry } from "../../telemetry/contract.ts";
import { openTelemetry } from "../../telemetry/otel/open-telemetry.ts";
import { createOtlpExporter } from "../../telemetry/otlp/otlp-exporter.ts";
import type { SpanSpool } from "../../telemetry/otlp/span-spool.ts";
import { liveSpans } from "../../telemetry/otlp/start-live-span.ts";
import { createTracing } from "../../telemetry/spans/tracing.ts";
import { connectCollector } from "./collector-connection.ts";
import { otlpSettingsFrom } from "./otlp-settings.ts";
import { openSpanFile } from "./span-file.ts";

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

/** Traces a server. */
export interface Tracing {
  readonly telemetry: Telemetry;
  /** The store as the server must use it: before a commit stores the context of a span, the span is kept for the case of a crash. */
  store(store: Store): Store;
  /** Sends what waits. Never rejects. */
  close(): Promise<void>;
}

/**
 * Traces to the collector that `otlp` names; else with the operator's OpenTelemetry SDK, if one is registered; else to the collector that the
 * environment names; else `undefined`. The SDK comes before the environment because it reads the same variables.
 */
export function startTracing({ otlp, spanFile, logger, env = process.env }: TracingOptions): Tracing | undefined {
  const sdk = otlp === undefined ? openTelemetry() : undefined;
  if (sdk !== undefined) return { telemetry: sdk, store: (store) => store, close: () => Promise.resolve() };
  const settings = otlpSettingsFrom(otlp, env);
  if (settings === undefined) return undefined;
  const { sampler, ...collector } = settings;
  const spool = spanFile === undefined ? undefined : openSpanFile(spanFile, logger);
  const { post, close } = connectCollector();
  const exporter = createOtlpExporter({ ...collector, spool, logger, post });
  return {
    telemetry: createTracing(liveSpans(exporter, sampler)),
    store: (store) => (spool === undefined ? store : new KeepingStore(store, spool)),
    close: () => exporter.close().finally(close),
  };
}

/** Keeps the spans that have begun before each commit. */
class KeepingStore extends StoreWrapper {
  readonly #spool: SpanSpool;

  constructor(store: Store, spool: SpanSpool) {
    super(store);
    this.#spool = spool;
  }

  protected override around<T>(_method: string, call: () => Promise<T>): Promise<T> {
    return call();
  }

  override commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    this.#spool.flush();
    return super.commit(operations, key);
  }
}
