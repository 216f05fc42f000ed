/** A requirement of the specification of the command line, in our words. */
export interface Requirement {
  readonly id: string;
  readonly tier: 1 | 2;
  /** The sections it is from. */
  readonly spec: string;
  readonly text: string;
  /** Why it does not apply. */
  readonly notApplicable?: string;
  /** What is missing although its tests pass. */
  readonly shortfall?: string;
}

/** What the tests do not show, or what is known not to be so. A line goes when the thing is there and a test shows it. */
const SHORTFALLS: Readonly<Record<string, string>> = {
  A2ACLI_VER_001: "Agents that offer no version from 1.0 on are called in their newest version without a flag.",
  A2ACLI_CONFORM_001:
    "The checks of its own are tested on live agents. --tck is tested with a program that stands for the kit, not with the kit itself, which is not published as a package.",
};

/** The edition of the specification that this is about. */
export const SPECIFICATION = { version: "0.2", revision: "2026-08-17" };

type Row = readonly [id: string, spec: string, text: string, notApplicable?: string];

const NO_SKILL = "No agent skill is shipped.";

const TIER_1: readonly Row[] = [
  ["CARD_GET_001", "§10.1, §13", "card get finds a card by host, URL or file, and the way in is chosen from it"],
  ["SEND_001", "§10.2", "a message can be sent to begin an interaction"],
  ["SEND_002", "§10.2, §6.5", "send waits; --async returns the ids at once"],
  [
    "SEND_003",
    "§10.2, §9.2",
    "--stream follows events where there are any and never hangs; a bare message is an answer",
  ],
  ["SEND_004", "§10.2", "artifacts are shown, and no part of them is left out"],
  ["SEND_005", "§10.2", "--media-type says what the part before it is; it is guessed only where that is not said"],
  [
    "SEND_006",
    "§10.2",
    "--text, --file and --data may be repeated and keep their order; --data - reads standard input",
  ],
  ["TASK_GET_001", "§10.3", "task get shows state, artifacts and history, and strips none"],
  ["TASK_CANCEL_001", "§10.4", "task cancel may be repeated, and reports the state"],
  ["INTERACT_001", "§8.1", "--context-id goes on in a context"],
  ["INTERACT_002", "§8.1", "--task-id goes on with a task; a rejected id fails and makes no new task"],
  ["INTERACT_003", "§4.1, §4", "ids that are the agent's to give are never made up"],
  ["INTERACT_004", "§8.2", "ids and state are printed to be copied, with the command that goes on"],
  ["INTERACT_005", "§6.3, §4.1, §8.3", "nothing is remembered from one run to the next"],
  ["TASK_POLL_001", "§9.3", "a task can be looked at once, or until it is over"],
  [
    "TASK_POLL_002",
    "§9.3",
    "--poll-interval and --timeout hold; waits grow within bounds; an interruption loses no id",
  ],
  ["TASK_POLL_003", "§9.1, §9.3", "waiting stops when the task asks for something, and not while its state is unknown"],
  ["TASK_POLL_004", "§9.3", "where a stream fails, waiting goes on by looking"],
  [
    "OUT_001",
    "§11.1, §11.5, §8.2",
    "task, context and state are in every form; standard output has nothing but the answer",
  ],
  ["OUT_002", "§11.3, App. B", "-o json is one document, that of the end"],
  ["OUT_003", "§11.3, §11.4, App. B", "-o json --stream is one object a line, the end last, or an error"],
  [
    "OUT_004",
    "§11.4, App. B, App. D",
    "errors can be read by programs, are the same over every binding, and say what to do",
  ],
  ["OUT_005", "§11.2, §6.1", "text is fields and blocks with steady labels and no control sequences"],
  ["OUT_006", "§11.5", "--async still gives task and context"],
  ["EXIT_001", "§11.6, App. D", "exit codes 0, 1 and 2; others only by their reserved meaning"],
  ["EXIT_002", "§6.6, §11.6", "how a task came out does not change the exit code; a warning tells it"],
  ["AUTH_001", "§12.1", "bearer tokens and API keys go where the card says; service parameters are apart from them"],
  ["AUTH_002", "§12.1, §6.5", "each has a variable; help warns that other users can see flags"],
  ["AUTH_003", "§12.1, §6.5", "--insecure warns, and more so where credentials are sent"],
  ["AUTH_004", "§12.1, §7.2", "credentials are in no diagnostics, whatever flags are given"],
  ["TX_001", "§13.1", "the way in is chosen from the card in its order"],
  ["TX_002", "§13.1, §6.5", "the first that can be spoken is taken; --transport is a list, best first"],
  ["TX_003", "§13.1", "the tenant of the chosen interface is in every request, and absent where there is none"],
  ["VER_001", "§13.2", "every request names its version; none before 1.0 is spoken unasked"],
  ["DEFAULT_001", "§6.5", "the defaults are those of the specification, and a flag overrides each"],
  ["CONFIG_001", "§8.3", "settings are kept in a usual place, secrets unreadable by others, and hold no session"],
  ["CLI_001", "§7.1, §7.2, §6.5", "help, --help and --version; help shows the defaults in effect"],
  ["SKILL_001", "§14.1, §14.2", "if a skill is shipped, exactly one and a lean one", NO_SKILL],
  ["SKILL_002", "§14.3", "a skill restates no requirements", NO_SKILL],
];

const TIER_2: readonly Row[] = [
  ["CARD_GET_002", "§10.1", "card get --validate checks the card"],
  ["TASK_LIST_001", "§7.1, App. A", "task list has pages and can be filtered by state and context"],
  ["TASK_SUBSCRIBE_001", "§7.1, §9.2", "task subscribe follows a task"],
  ["TASK_SUBSCRIBE_002", "§9.4, §9.2", "a stream goes on after a broken connection"],
  ["AUTH_005", "§12.2", "auth login by device code"],
  ["AUTH_006", "§12.2", "auth login by client credentials"],
  ["AUTH_007", "§12.2", "tokens are kept safely and shown by later calls"],
  ["TX_004", "§13.1", "two bindings or more can be chosen"],
  ["VER_003", "§13.3", "a capability is looked up on the card before it is used"],
  ["CONFIG_002", "§8.3", "flag, environment, local file, global file, default, in this order; config show tells which"],
  ["DOWNLOAD_001", "§7.1", "task download saves artifacts"],
  ["OUT_007", "§7.2", "--debug tells what goes over the wire"],
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
