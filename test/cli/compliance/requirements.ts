/** A requirement of the command-line specification, in our words. */
export interface Requirement {
  readonly id: string;
  readonly tier: 1 | 2;
  /** The sections that state it. */
  readonly spec: string;
  readonly text: string;
  /** The reason why it does not apply. */
  readonly notApplicable?: string;
  /** The part that is missing although its tests pass. */
  readonly shortfall?: string;
}

/** Known gaps: what is missing, or what the tests do not show. Remove a line when a test covers it. */
const SHORTFALLS: Readonly<Record<string, string>> = {
  A2ACLI_VER_001: "Agents that offer no version from 1.0 on are called in their newest version without a flag.",
  A2ACLI_CONFORM_001:
    "The built-in checks are tested against live agents. --tck is tested with a stand-in for the kit, because the kit is not published as a package.",
};

/** The edition of the specification. */
export const SPECIFICATION = { version: "0.2", revision: "2026-08-17" };

type Row = readonly [id: string, spec: string, text: string, notApplicable?: string];

const NO_SKILL = "No agent skill is shipped.";

const TIER_1: readonly Row[] = [
  ["CARD_GET_001", "§10.1, §13", "card get reads a card by host, URL or file, and selects an interface"],
  ["SEND_001", "§10.2", "a message can be sent to start an interaction"],
  ["SEND_002", "§10.2, §6.5", "send waits; --async returns the ids at once"],
  [
    "SEND_003",
    "§10.2, §9.2",
    "--stream follows events if the agent streams, and never hangs; a bare message is an answer",
  ],
  ["SEND_004", "§10.2", "artifacts are shown completely"],
  ["SEND_005", "§10.2", "--media-type sets the type of the preceding part; without it the type is guessed"],
  [
    "SEND_006",
    "§10.2",
    "--text, --file and --data may be repeated and keep their order; --data - reads standard input",
  ],
  ["TASK_GET_001", "§10.3", "task get shows state, artifacts and history, and omits none"],
  ["TASK_CANCEL_001", "§10.4", "task cancel may be repeated, and prints the state"],
  ["INTERACT_001", "§8.1", "--context-id continues a context"],
  ["INTERACT_002", "§8.1", "--task-id continues a task; a rejected id fails and creates no new task"],
  ["INTERACT_003", "§4.1, §4", "ids that the agent assigns are never invented"],
  ["INTERACT_004", "§8.2", "ids and state are printed with the command that continues the task"],
  ["INTERACT_005", "§6.3, §4.1, §8.3", "no state is kept between two runs"],
  ["TASK_POLL_001", "§9.3", "a task can be polled once, or until it ends"],
  [
    "TASK_POLL_002",
    "§9.3",
    "--poll-interval and --timeout apply; the interval grows up to a limit; an interruption prints the ids",
  ],
  ["TASK_POLL_003", "§9.1, §9.3", "waiting stops when the task needs input, and continues while its state is unknown"],
  ["TASK_POLL_004", "§9.3", "if a stream fails, waiting continues by polling"],
  [
    "OUT_001",
    "§11.1, §11.5, §8.2",
    "task, context and state are in every format; standard output contains only the result",
  ],
  ["OUT_002", "§11.3, App. B", "-o json prints one document: the final one"],
  ["OUT_003", "§11.3, §11.4, App. B", "-o json --stream prints one object per line, the final one or an error last"],
  ["OUT_004", "§11.4, App. B, App. D", "errors are machine-readable, the same over every binding, and say what to do"],
  ["OUT_005", "§11.2, §6.1", "text output has fields and blocks with fixed labels and no control sequences"],
  ["OUT_006", "§11.5", "--async prints task and context"],
  ["EXIT_001", "§11.6, App. D", "exit codes 0, 1 and 2; others only with their reserved meaning"],
  ["EXIT_002", "§6.6, §11.6", "the task's final state does not change the exit code; a warning reports it"],
  [
    "AUTH_001",
    "§12.1",
    "bearer tokens and API keys are sent where the card declares them, separate from service parameters",
  ],
  ["AUTH_002", "§12.1, §6.5", "each credential has a variable; help says that other users can see flags"],
  ["AUTH_003", "§12.1, §6.5", "--insecure prints a warning, and a stronger one if credentials are sent"],
  ["AUTH_004", "§12.1, §7.2", "no diagnostics contain credentials, with any flags"],
  ["TX_001", "§13.1", "the interface is selected in the order of the card"],
  ["TX_002", "§13.1, §6.5", "the first supported interface is selected; --transport is an ordered list of preferences"],
  ["TX_003", "§13.1", "the tenant of the chosen interface is in every request, and absent where there is none"],
  ["VER_001", "§13.2", "every request states its version; no version before 1.0 is used unless requested"],
  ["DEFAULT_001", "§6.5", "the defaults are those of the specification, and a flag overrides each"],
  [
    "CONFIG_001",
    "§8.3",
    "settings are stored in the standard folder, with secrets unreadable by others, and without session data",
  ],
  ["CLI_001", "§7.1, §7.2, §6.5", "help, --help and --version; help shows the defaults in effect"],
  ["SKILL_001", "§14.1, §14.2", "at most one skill is shipped, and it is short", NO_SKILL],
  ["SKILL_002", "§14.3", "a skill does not repeat requirements", NO_SKILL],
];

const TIER_2: readonly Row[] = [
  ["CARD_GET_002", "§10.1", "card get --validate checks the card"],
  ["TASK_LIST_001", "§7.1, App. A", "task list pages through tasks and filters by state and context"],
  ["TASK_SUBSCRIBE_001", "§7.1, §9.2", "task subscribe follows a task"],
  ["TASK_SUBSCRIBE_002", "§9.4, §9.2", "a stream resumes after a lost connection"],
  ["AUTH_005", "§12.2", "auth login with a device code"],
  ["AUTH_006", "§12.2", "auth login with client credentials"],
  ["AUTH_007", "§12.2", "tokens are stored safely and used by later calls"],
  ["TX_004", "§13.1", "at least two bindings can be selected"],
  ["VER_003", "§13.3", "a capability is looked up in the card before it is used"],
  [
    "CONFIG_002",
    "§8.3",
    "flag, environment, local file, global file, default, in this order; config show prints the source",
  ],
  ["DOWNLOAD_001", "§7.1", "task download saves artifacts"],
  ["OUT_007", "§7.2", "--debug prints requests and responses"],
  ["CONFORM_001", "§7.1", "conformance checks a live agent"],
  ["CLI_002", "§7.1", "completion prints a script for a shell"],
  ["PUSH_001", "§7.1, App. A", "task push-config creates, gets, lists and deletes"],
];

export const REQUIREMENTS: readonly Requirement[] = [...TIER_1.map(rowOf(1)), ...TIER_2.map(rowOf(2))];

function rowOf(tier: 1 | 2): (row: Row) => Requirement {
  return ([id, spec, text, notApplicable]) => ({
    id: `A2ACLI_${id}`,
    tier,
    spec,
    text,
    ...(notApplicable !== undefined && { notApplicable }),
    ...shortfallOf(`A2ACLI_${id}`),
  });
}

function shortfallOf(id: string): Pick<Requirement, "shortfall"> {
  const shortfall = SHORTFALLS[id];
  return shortfall === undefined ? {} : { shortfall };
}
