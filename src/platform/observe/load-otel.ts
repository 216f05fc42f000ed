import type { Telemetry } from "../../telemetry/contract.ts";
import type { Registry } from "../../telemetry/metrics/registry.ts";
import { packageVersion } from "../version.ts";

/** Where every copy of the package `@opentelemetry/api` 1.x keeps the providers of the process. */
const GLOBAL = Symbol.for("opentelemetry.js.api.1");

/** Whether the host has registered a `TracerProvider` (`trace`) or a `MeterProvider` (`metrics`). The package itself is not loaded for this. */
function hasProvider(kind: "trace" | "metrics"): boolean {
  // Safe cast: only looked at.
  const api = (globalThis as { readonly [GLOBAL]?: Readonly<Record<string, unknown>> })[GLOBAL];
  return api?.[kind] !== undefined;
}

/** Traces with the registered `TracerProvider`, if there is one. */
export async function traceWithProvider(): Promise<Telemetry | undefined> {
  if (!hasProvider("trace")) return undefined;
  const { openTelemetry } = await import("../../telemetry/otel/open-telemetry.ts");
  return openTelemetry();
}

/** Sends the metrics to the registered `MeterProvider`, if there is one. Returns a function that ends this. */
export async function sendToMeterProvider(registry: Registry): Promise<(() => void) | undefined> {
  if (!hasProvider("metrics")) return undefined;
  const { bridgeToOpenTelemetry } = await import("../../telemetry/metrics/otel-bridge.ts");
  return bridgeToOpenTelemetry(registry, packageVersion());
}
