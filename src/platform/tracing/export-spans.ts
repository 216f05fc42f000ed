import type { Logger } from "../../internal/logger.ts";
import type { CommitKey, Outcome, Store, StoreOperation } from "../../store/contract.ts";
import { StoreWrapper } from "../../store/store-wrapper.ts";
import type { Telemetry } from "../../telemetry/contract.ts";
import { createOtlpExporter } from "../../telemetry/otlp/otlp-exporter.ts";
import type { SpanSpool } from "../../telemetry/otlp/span-spool.ts";
import { liveSpans } from "../../telemetry/otlp/start-live-span.ts";
import { createTracing } from "../../telemetry/spans/tracing.ts";
import { connectCollector } from "./collector-connection.ts";
import type { OtlpSettings } from "./otlp-settings.ts";
import { openSpanFile } from "./span-file.ts";

/** Traces a server. */
export interface Tracing {
  readonly telemetry: Telemetry;
  /** The store as the server must use it: before a commit stores the context of a span, the span is kept for the case of a crash. */
  store(store: Store): Store;
  /** Sends what waits. Never rejects. */
  close(): Promise<void>;
}

/** Traces a server to the collector of the settings. */
export function exportSpans(
  { sampler, ...collector }: OtlpSettings,
  { spanFile, logger }: { readonly spanFile: string | undefined; readonly logger: Logger },
): Tracing {
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
