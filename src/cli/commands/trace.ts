import { Command } from "commander";
import { DEFAULT_STORE } from "../../platform/settings/settings.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { exportTrace } from "../../platform/tracing/export-trace.ts";
import { readTaskHistory, type TaskHistory } from "../../platform/tracing/task-history.ts";
import { type TaskTrace, taskTrace } from "../../platform/tracing/task-trace.ts";
import type { CliContext } from "../context.ts";
import { waterfall } from "../output/waterfall.ts";
import type { OperatorFlags } from "../session/operator-client.ts";
import { openTaskSource } from "../session/task-source.ts";
import { exampleText } from "./agent.ts";

const EXAMPLES = [
  ["palaver trace 0199f3…", "show what the task did, and when"],
  ["palaver trace 0199f3… --otlp http://127.0.0.1:4318", "send its spans to a collector"],
  ["palaver trace 0199f3… --json | jq .rows", "as JSON"],
] as const;

interface Flags extends OperatorFlags {
  readonly otlp?: string;
  readonly json?: boolean;
}

/** `palaver trace`. Asks the running server, or reads the store of one that is not running. */
export function traceCommand(context: CliContext): Command {
  return new Command("trace")
    .description("Show what a task did, and when: attempts, steps, questions, waits, webhook deliveries and children.")
    .argument("<task-id>", "the task")
    .option("--store <store>", `store of the server, running or not: sqlite:FILE (default: ${DEFAULT_STORE})`)
    .option("--url <url>", "address of the running server (default: the one in the operator file beside the store)")
    .option("--otlp <url>", "send the spans to this OpenTelemetry collector, with the ids that the server gives them")
    .option("--json", "print JSON")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", exampleText(EXAMPLES))
    .action((taskId: string, flags: Flags) => showTrace(context, taskId, flags));
}

async function showTrace(context: CliContext, taskId: string, flags: Flags): Promise<void> {
  const { stdout, env, now } = context;
  const source = await openTaskSource(flags, context);
  let history: TaskHistory | undefined;
  try {
    history = await readTaskHistory(source, taskId);
  } finally {
    await source.close();
  }
  if (history === undefined) throw new StartupError("failed", `The store has no task ${taskId}.`);
  const trace = taskTrace(history);
  if (flags.otlp !== undefined) {
    const sent = await exportTrace(trace, flags.otlp, env);
    await stdout.write(
      flags.json === true
        ? `${JSON.stringify({ traceId: trace.traceId, sent })}\n`
        : `${sent} spans of trace ${trace.traceId} sent.\n`,
    );
    return;
  }
  const width = Number(env["COLUMNS"]) || process.stdout.columns || 100;
  await stdout.write(
    flags.json === true ? `${JSON.stringify(jsonOf(trace), null, 2)}\n` : waterfall(trace, width, now()),
  );
}

function jsonOf({ rows, ...task }: TaskTrace): object {
  const time = (at: number | undefined): string | null => (at === undefined ? null : new Date(at).toISOString());
  return {
    ...task,
    rows: rows.map(({ kind, label, start, end, outcome, span, taskId }) => ({
      kind,
      label,
      outcome,
      start: time(start),
      end: time(end),
      durationMs: end === undefined ? null : end - start,
      spanId: span?.context.spanId ?? null,
      parentSpanId: span?.parentSpanId ?? null,
      ...(taskId !== undefined && { taskId }),
    })),
  };
}
