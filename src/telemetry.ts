// `palaver/telemetry`: traces, for programs that start a server or a client themselves.

export type { Telemetry } from "./telemetry/contract.ts";
export { idGenerator } from "./telemetry/otel/id-generator.ts";
export { openTelemetry } from "./telemetry/otel/open-telemetry.ts";
export type { OtlpExporterOptions } from "./telemetry/otlp/otlp-exporter.ts";
export { createOtlpTelemetry, type OtlpTelemetry, type OtlpTelemetryOptions } from "./telemetry/otlp/otlp-telemetry.ts";
