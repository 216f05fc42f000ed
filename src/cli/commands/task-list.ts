import type { Command } from "commander";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import { stateNamed } from "../../wire/official-json.ts";
import { usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { parseDuration } from "../options/duration.ts";
import { runSession, type Session } from "../session/session.ts";
import { shellWord } from "../shell-words.ts";
import { agentCommand } from "./agent.ts";

interface ListFlags {
  readonly status?: string;
  readonly since?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly all?: boolean;
  readonly artifacts?: boolean;
  readonly history?: number;
}

/** `palaver task list`. One page by default; `--all` reads all pages before it prints. */
export function taskListCommand(context: CliContext): Command {
  const command = agentCommand("list", {
    description: "List your tasks, the most recently changed first.",
    options: ["context-id"],
    descriptions: { "context-id": "only tasks of this context" },
    own: [
      { flags: "--status <state>", description: "only tasks in this state, such as working or input-required" },
      {
        flags: "--since <time>",
        description: "only tasks that changed in this time or since this date: 2h, 2027-05-17T10:00:00Z",
      },
      { flags: "--page-size <n>", description: "tasks per page (default: the agent chooses)", whole: true },
      { flags: "--page-token <token>", description: "show the page of this token" },
      { flags: "--all", description: "show all pages" },
      { flags: "--artifacts", description: "include artifacts" },
      { flags: "--history <n>", description: "include the last n messages of each task", whole: true },
    ],
    examples: [
      ["palaver task list -a http://127.0.0.1:3000", "the first page"],
      ["palaver task list --status input-required", "tasks that wait for your input"],
      ["palaver task list --context-id ID --all -o json", "all of one context, as JSON"],
      ["palaver task list --all -o json --stream", "one task per line"],
    ],
  });
  return command.action(() =>
    runSession(context, command.opts(), (session) => list(session, command.opts<ListFlags>())),
  );
}

async function list(session: Session, flags: ListFlags): Promise<void> {
  const { settings, signal, output, context } = session;
  const state = flags.status === undefined ? undefined : stateOf(flags.status);
  const since = flags.since === undefined ? undefined : timeOf(flags.since, context.now());
  const agent = await session.connect();
  const filter = {
    signal,
    ...(settings.contextId !== undefined && { contextId: settings.contextId }),
    ...(state !== undefined && { state }),
    ...(since !== undefined && { since }),
    ...(flags.pageSize !== undefined && { pageSize: flags.pageSize }),
    ...(flags.artifacts === true && { artifacts: true }),
    ...(flags.history !== undefined && { historyLength: flags.history }),
  };
  let page = await agent.taskPage({ ...filter, ...(flags.pageToken !== undefined && { pageToken: flags.pageToken }) });
  if (flags.all === true) {
    const tasks = [...page.tasks];
    while (page.nextPageToken !== "") {
      page = await agent.taskPage({ ...filter, pageToken: page.nextPageToken });
      tasks.push(...page.tasks);
    }
    page = { ...page, tasks };
  }
  const { tasks, nextPageToken, pageSize, total } = page;
  const more = nextPageToken === "" ? undefined : nextPageCommand(session, flags, nextPageToken);
  await output.tasks({ tasks, nextPageToken, pageSize, totalSize: total }, more);
}

/** The command that shows the next page with the same filters and page size. */
function nextPageCommand({ agentFlags, sources, settings }: Session, flags: ListFlags, token: string): string {
  const { status, since, pageSize, artifacts, history } = flags;
  const contextId = sources.flags["contextId"] === undefined ? undefined : settings.contextId;
  const options: readonly (readonly [flag: string, value: string | number | undefined])[] = [
    ["--context-id", contextId],
    ["--status", status],
    ["--since", since],
    ["--page-size", pageSize],
    ["--history", history],
    ["--page-token", token],
  ];
  const typed = options.flatMap(([flag, value]) =>
    value === undefined ? [] : [`${flag} ${shellWord(String(value))}`],
  );
  return `palaver task list ${agentFlags}${[...(artifacts === true ? ["--artifacts"] : []), ...typed].join(" ")}`;
}

function stateOf(text: string): TaskState {
  const state = stateNamed(text);
  if (state === undefined) throw usageError(`"${text}" is not a task state.`, `Use one of ${TASK_STATES.join(", ")}.`);
  return state;
}

/** A duration counts back from now: `2h` is two hours ago. */
function timeOf(text: string, now: number): Date {
  const ago = parseDuration(text);
  const date = ago === undefined ? new Date(text) : new Date(now - ago);
  if (Number.isNaN(date.getTime()))
    throw usageError(`"${text}" is not a time.`, "For example: 2h or 2027-05-17T10:00:00Z");
  return date;
}
