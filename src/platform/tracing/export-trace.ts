import { createOtlpExporter } from "../../telemetry/otlp/otlp-exporter.ts";
import { reported } from "../../telemetry/otlp/span-sink.ts";
import { StartupError } from "../startup-error.ts";
import { otlpSettingsFrom } from "./otlp-settings.ts";
import type { TaskTrace } from "./task-trace.ts";

/** Milliseconds for all requests. */
const WITHIN = 15_000;

/** Sends the spans of a task that have ended to a collector. Returns how many. Throws a {@link StartupError} if they could not be sent. */
export async function exportTrace({ rows }: TaskTrace, otlp: string, env: NodeJS.ProcessEnv): Promise<number> {
  const settings = otlpSettingsFrom(otlp, env);
  if (settings === undefined) throw new StartupError("usage", "--otlp must name a collector.");
  const spans = rows.flatMap(({ span }) => (span?.end === undefined ? [] : [span]));
  const exporter = createOtlpExporter({ ...settings, maxQueue: spans.length });
  for (const span of spans) exporter.ended(reported(span));
  await exporter.close(WITHIN);
  if (exporter.dropped === 0) return spans.length;
  throw new StartupError("failed", `${exporter.dropped} of ${spans.length} spans could not be sent to the collector.`);
}
