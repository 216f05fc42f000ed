import { Command, Option } from "commander";
import { DEFAULT_STORE } from "../../platform/settings/settings.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { TASK_STATES } from "../../protocol/state.ts";
import type { CliContext } from "../context.ts";
import { table } from "../output/table.ts";
import { type OperatorAnswer, type OperatorFlags, operatorClient } from "../session/operator-client.ts";
import { exampleText, groupCommand } from "./agent.ts";

const EXAMPLES = [
  ["palaver admin tasks --state working", "running tasks of all callers"],
  ["palaver admin task 0199…", "one task: status, messages, journal"],
  ["palaver admin answer 0199… yes", "answer the question of a task"],
  ["palaver admin dead-letters list", "webhooks whose delivery failed"],
  ["palaver admin dead-letters redeliver 0199… ID", "deliver to a webhook again"],
  ["palaver admin metrics --json", "all metrics of the server"],
] as const;

interface AdminFlags extends OperatorFlags {
  readonly json?: boolean;
}

/** `palaver admin tasks | task | cancel | answer | webhooks | dead-letters | nodes | metrics`: the server on this machine, over all callers. */
export function adminCommand(context: CliContext): Command {
  const group = groupCommand(
    "admin",
    "Look at a running server on this machine, over all callers: tasks, webhooks, nodes; cancel and answer tasks.",
    [
      tasksCommand(context),
      taskCommand(context),
      cancelCommand(context),
      answerCommand(context),
      webhooksCommand(context),
      deadLettersCommand(context),
      nodesCommand(context),
      metricsCommand(context),
    ],
  );
  return group.addHelpText("after", exampleText(EXAMPLES));
}

function command(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option("--store <store>", `store of the server; the token is in a file beside it (default: ${DEFAULT_STORE})`)
    .option("--url <url>", "address of the server (default: the one in that file)")
    .option("--json", "print JSON")
    .helpOption("-h, --help", "print this help");
}

interface TaskFlags extends AdminFlags {
  readonly agent?: string;
  readonly state?: string;
  readonly tenant?: string;
  readonly owner?: string;
  readonly context?: string;
  readonly since?: string;
  readonly before?: string;
  readonly limit?: string;
  readonly cursor?: string;
}

function tasksCommand(context: CliContext): Command {
  return command("tasks", "List tasks of all callers, newest status first.")
    .option("--agent <id>", "only tasks of this agent")
    .addOption(new Option("--state <state>", "only tasks in this state").choices(TASK_STATES))
    .option("--owner <id>", "only tasks of this caller")
    .option("--tenant <name>", "only tasks of this tenant")
    .option("--context <id>", "only tasks of this context")
    .option("--since <time>", "only tasks whose status is this old or newer, such as 2030-01-31T12:00:00Z")
    .option("--before <time>", "only tasks whose status is older")
    .option("--limit <number>", "tasks per page, at most 200 (default: 50)")
    .option("--cursor <cursor>", "the next page: the cursor that the last page printed")
    .action(async ({ json, store, url, ...filter }: TaskFlags) => {
      const answer = await operatorClient(located(store, url), context).get("/tasks", { ...filter });
      await show(context, { json, answer }, () =>
        table(
          ["TASK", "AGENT", "STATE", "OWNER", "STATUS AT", "EVENTS"],
          rowsOf(answer["tasks"], ["key", "agent", "state", "owner", "statusAt", "seq"]),
        ),
      );
    });
}

function taskCommand(context: CliContext): Command {
  return command("task", "Show one task: its status, its messages and its journal.")
    .argument("<id>", "the task, as palaver admin tasks shows it")
    .option("--events", "also print the events of its log, one JSON object per line")
    .action(async (id: string, { json, store, url, events }: AdminFlags & { readonly events?: boolean }) => {
      const client = operatorClient(located(store, url), context);
      const path = `/tasks/${encodeURIComponent(id)}`;
      const answer = await client.get(path);
      await show(context, { json, answer }, () => taskText(answer));
      if (events !== true) return;
      let after = 0;
      for (;;) {
        const page = await client.get(`${path}/events`, { after: String(after) });
        const entries = listOf(page["events"]);
        for (const entry of entries) await context.stdout.write(`${JSON.stringify(entry)}\n`);
        const last = Number(entries.at(-1)?.["seq"] ?? 0);
        if (last <= after || last >= Number(page["lastSeq"])) return;
        after = last;
      }
    });
}

function taskText(answer: OperatorAnswer): string {
  const task = objectOf(answer["task"]);
  const facts = [
    "key",
    "agent",
    "owner",
    "tenant",
    "contextId",
    "state",
    "createdAt",
    "statusAt",
    "dialect",
    "seq",
    "node",
  ];
  const journal = listOf(answer["journal"]).map(({ kind, key, turn, attempt, start, end, outcome }) => [
    ...[kind, key, turn, attempt, timeText(start), timeText(end), outcome],
  ]);
  return [
    table(
      ["", ""],
      facts.map((name) => [name, task[name]]),
    ).slice(1),
    journal.length === 0
      ? ""
      : `\nJournal\n${table(["KIND", "KEY", "TURN", "ATTEMPT", "START", "END", "OUTCOME"], journal)}`,
  ].join("");
}

function cancelCommand(context: CliContext): Command {
  return command("cancel", "Cancel a task of any caller.")
    .argument("<id>", "the task, as palaver admin tasks shows it")
    .action(async (id: string, { json, store, url }: AdminFlags) => {
      const client = operatorClient(located(store, url), context);
      const answer = await client.post(`/tasks/${encodeURIComponent(id)}/cancel`, {});
      await show(context, { json, answer }, () => `Task ${id} is ${String(objectOf(answer["task"])["state"])}.\n`);
    });
}

interface AnswerFlags extends AdminFlags {
  readonly data?: string;
}

function answerCommand(context: CliContext): Command {
  return command("answer", "Answer the question that a task asks its caller.")
    .argument("<id>", "the task, as palaver admin tasks shows it")
    .argument("[text]", "the answer")
    .option("--data <json>", "the answer as JSON, for questions that expect data")
    .action(async (id: string, text: string | undefined, { json, store, url, data }: AnswerFlags) => {
      const body = { ...(text !== undefined && { text }), ...(data !== undefined && { data: parsedData(data) }) };
      const client = operatorClient(located(store, url), context);
      const answer = await client.post(`/tasks/${encodeURIComponent(id)}/answer`, body);
      await show(context, { json, answer }, () => `Task ${id} is ${String(objectOf(answer["task"])["state"])}.\n`);
    });
}

function parsedData(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new StartupError("usage", "--data must be JSON.");
  }
}

const WEBHOOK_COLUMNS = ["task", "configId", "url", "state", "deliveredSeq", "lastSeq", "attempts", "nextAt"] as const;

function webhooksCommand(context: CliContext): Command {
  return command("webhooks", "List the webhooks that the server notifies, or those of one task.")
    .option("--task <id>", "only webhooks of this task, in every state")
    .action(async ({ json, store, url, task }: AdminFlags & { readonly task?: string }) => {
      const path = task === undefined ? "/webhooks" : `/tasks/${encodeURIComponent(task)}/webhooks`;
      const answer = await operatorClient(located(store, url), context).get(path);
      await show(context, { json, answer }, () =>
        table(
          ["TASK", "WEBHOOK", "URL", "STATE", "DELIVERED", "LAST", "FAILED ATTEMPTS", "NEXT ATTEMPT"],
          rowsOf(answer["webhooks"], WEBHOOK_COLUMNS),
        ),
      );
    });
}

function deadLettersCommand(context: CliContext): Command {
  const list = command("list", "List webhooks whose delivery failed for good, newest first.")
    .option("--task <id>", "only webhooks of this task")
    .option("--limit <number>", "at most 200 (default: 50)")
    .option("--cursor <cursor>", "the next page: the cursor that the last page printed")
    .action(async ({ json, store, url, ...filter }: AdminFlags & { readonly task?: string }) => {
      const answer = await operatorClient(located(store, url), context).get("/dead-letters", { ...filter });
      await show(context, { json, answer }, () =>
        table(
          ["TASK", "WEBHOOK", "AGENT", "OUTCOME", "REASON", "FAILED AT"],
          rowsOf(answer["deadLetters"], ["taskId", "configId", "agent", "outcome", "reason", "failedAt"]),
        ),
      );
    });
  const redeliver = command("redeliver", "Deliver to a webhook again, from the first event that it did not receive.")
    .argument("<task>", "the task, as palaver admin dead-letters list shows it")
    .argument("<webhook>", "the webhook")
    .action(async (taskId: string, configId: string, { json, store, url }: AdminFlags) => {
      const client = operatorClient(located(store, url), context);
      const answer = await client.post("/dead-letters/redeliver", { taskId, configId });
      await show(context, { json, answer }, () => `Delivering to webhook ${configId} of task ${taskId} again.\n`);
    });
  return groupCommand("dead-letters", "Webhooks whose delivery failed for good.", [list, redeliver]);
}

function nodesCommand(context: CliContext): Command {
  return command("nodes", "List the processes that share the store, with their leases.").action(
    async ({ json, store, url }: AdminFlags) => {
      const answer = await operatorClient(located(store, url), context).get("/nodes");
      await show(context, { json, answer }, () =>
        table(["NODE", "TASKS", "LEASE UNTIL"], rowsOf(answer["nodes"], ["id", "tasks", "leaseUntil"])),
      );
    },
  );
}

function metricsCommand(context: CliContext): Command {
  return command("metrics", "Show the metrics of the server; histograms as count and mean.").action(
    async ({ json, store, url }: AdminFlags) => {
      const answer = await operatorClient(located(store, url), context).get("/metrics");
      await show(context, { json, answer }, () => table(["METRIC", "LABELS", "VALUE"], metricRows(answer["metrics"])));
    },
  );
}

function metricRows(metrics: unknown): readonly (readonly unknown[])[] {
  return listOf(metrics).flatMap(({ name, values }) =>
    listOf(values).map((value) => {
      const labels = Object.entries(objectOf(value["labels"])).map(([label, text]) => `${label}=${String(text)}`);
      const { count, sum } = value;
      const mean = Number(count) === 0 ? 0 : Number(sum) / Number(count);
      const figure = count === undefined ? value["value"] : `${Number(count)} × ${mean.toPrecision(3)}`;
      return [name, labels.join(" "), figure];
    }),
  );
}

interface Shown {
  readonly json: boolean | undefined;
  readonly answer: OperatorAnswer;
}

/** Prints an answer, and how to get the next page. */
async function show({ stdout, stderr }: CliContext, { json, answer }: Shown, text: () => string): Promise<void> {
  if (json === true) {
    await stdout.write(`${JSON.stringify(answer)}\n`);
    return;
  }
  await stdout.write(text());
  const { next } = answer;
  if (typeof next === "string") await stderr.write(`More: --cursor ${next}\n`);
}

function located(store: string | undefined, url: string | undefined): OperatorFlags {
  return { ...(store !== undefined && { store }), ...(url !== undefined && { url }) };
}

/** Milliseconds since 1970 as ISO 8601. */
function timeText(value: unknown): string {
  return typeof value === "number" ? new Date(value).toISOString() : "";
}

function rowsOf(list: unknown, columns: readonly string[]): readonly (readonly unknown[])[] {
  return listOf(list).map((entry) => columns.map((column) => entry[column]));
}

function listOf(value: unknown): readonly OperatorAnswer[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

function objectOf(value: unknown): OperatorAnswer {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
