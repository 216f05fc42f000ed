import type { Registry } from "../../telemetry/metrics/registry.ts";
import { packageVersion } from "../version.ts";

/** Where every copy of the package `@opentelemetry/api` 1.x keeps the providers of the process. */
const GLOBAL = Symbol.for("opentelemetry.js.api.1");

/** Whether the host has registered a `MeterProvider`. The package itself is not loaded for this. */
function hasMeterProvider(): boolean {
  // Safe cast: only looked at.
  const api = (globalThis as { readonly [GLOBAL]?: { readonly metrics?: unknown } })[GLOBAL];
  return api?.metrics !== undefined;
}

/** Sends the metrics to the registered `MeterProvider`, if there is one. Returns a function that ends this. */
export async function sendToMeterProvider(registry: Registry): Promise<(() => void) | undefined> {
  if (!hasMeterProvider()) return undefined;
  const { bridgeToOpenTelemetry } = await import("../../telemetry/metrics/otel-bridge.ts");
  return bridgeToOpenTelemetry(registry, packageVersion());
}
