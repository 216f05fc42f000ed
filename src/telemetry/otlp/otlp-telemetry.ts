import type { Telemetry } from "../contract.ts";
import { EVERYTHING, type Sampler } from "../spans/sampler.ts";
import { createTracing } from "../spans/tracing.ts";
import { createOtlpExporter, type OtlpExporterOptions } from "./otlp-exporter.ts";
import { liveSpans } from "./start-live-span.ts";

/** Observes a client or a server, and sends spans to a collector. */
export interface OtlpTelemetry extends Telemetry {
  /** Spans that were lost. */
  dropped(): number;
  /** Sends what waits, within this many milliseconds (default 2000), and stops. Never rejects. */
  close(withinMs?: number): Promise<void>;
}

/** Options of {@link createOtlpTelemetry}. */
export interface OtlpTelemetryOptions extends OtlpExporterOptions {
  /** Which traces are recorded. Default: all new ones, and those of callers that record theirs. */
  readonly sampler?: Sampler;
}

/** Traces a client, or a server: pass it as `telemetry`. Spans go to a collector as OTLP/HTTP with JSON, without any SDK. */
export function createOtlpTelemetry({ sampler = EVERYTHING, ...options }: OtlpTelemetryOptions): OtlpTelemetry {
  const exporter = createOtlpExporter(options);
  return {
    ...createTracing(liveSpans(exporter, sampler)),
    dropped: () => exporter.dropped,
    close: (withinMs) => exporter.close(withinMs),
  };
}
