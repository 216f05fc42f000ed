/** Limits of one process and of one task. Every value is a whole number of at least 1, or `Infinity`. */
export interface Limits {
  /** Size of the log of one task, in bytes. Beyond it, writing rejects with `task-too-large`. Default: 64 MB. */
  readonly maxTaskBytes: number;
  /** Size of one event as stored, in bytes. Beyond it, writing rejects with `event-too-large`. Default: 4 MB. */
  readonly maxEventBytes: number;
  /** Size of one message as stored, in bytes. Beyond it the caller gets `payload-too-large`. Default: 8 MB. */
  readonly maxMessageBytes: number;
  /** Parts of one message. Beyond it the caller gets `payload-too-large`. Default: 1000. */
  readonly maxParts: number;
  /** Artifacts of one task. Beyond it, writing a further artifact rejects with `too-many-artifacts`. Default: 1000. */
  readonly maxArtifacts: number;
  /** Messages in the history of one task. Beyond it the caller gets `resource-exhausted`. Default: 1000. */
  readonly maxHistory: number;
  /** Messages in the inbox of one task. Beyond it the caller gets `resource-exhausted`. Default: 100. */
  readonly maxInbox: number;
  /** Open subscriptions in this process. Beyond it the caller gets `resource-exhausted`. Default: 10,000. */
  readonly maxSubscribers: number;
  /** Open subscriptions to one task. Beyond it the caller gets `resource-exhausted`. Default: 1000. */
  readonly maxSubscribersPerTask: number;
  /** Tasks that this process has at a time, running or queued. Beyond it the caller gets `resource-exhausted`. Default: 100,000. */
  readonly maxLiveTasks: number;
  /**
   * Runs that this process keeps in memory while they wait for an answer, a message or a time. Beyond it, those that have waited longest, and at least
   * 1 s, are parked: removed from memory until what they wait for comes. Below it, a run is parked after 30 s. Default: 1000.
   */
  readonly maxWaitingRuns: number;
  /** Tasks of one authenticated caller that this process has at a time, running or queued. Beyond it the caller gets `resource-exhausted`. Default: 1000. */
  readonly maxRunsPerOwner: number;
  /** Uncommitted events of one task. At this number, writing waits for the next commit. Default: 256. */
  readonly maxUncommittedEvents: number;
  /** Size of the uncommitted events of one task, in bytes. At this size, writing waits for the next commit. Default: 256 KB. */
  readonly maxUncommittedBytes: number;
  /** Number of last events of a live task in memory. Subscriptions that are further behind read from the store. Default: 512. */
  readonly tailEvents: number;
  /** Size of the last events of a live task in memory, in bytes. Subscriptions that are further behind read from the store. Default: 256 KB. */
  readonly tailBytes: number;
  /** Steps, questions and sleeps of one turn. Beyond it, the next one rejects with `too-many-steps`. Default: 10,000. */
  readonly maxSteps: number;
  /** Size of the result of one step as JSON, in bytes. Beyond it, the step rejects with `step-too-large`. Default: 1 MB. */
  readonly maxStepBytes: number;
  /** Size of the keys and values of one context (`task.context`), in bytes. Beyond it, writing rejects with `context-too-large`. Default: 64 KB. */
  readonly maxContextBytes: number;
  /** Values of an Observable that wait to be written. Beyond it, the run fails with `observable-overflow`. Default: 1000. */
  readonly observableBuffer: number;
  /** How long a send waits for its task to end or to ask a question, in milliseconds. Then it returns the task as it is. Default: 1 h. */
  readonly maxWait: number;
  /** How long a get waits for the task to change, in milliseconds. Then it returns the task as it is. Default: 30 s. */
  readonly maxPollWait: number;
}

const KB = 1024;
const MB = 1024 * KB;

export const DEFAULT_LIMITS: Limits = {
  maxTaskBytes: 64 * MB,
  maxEventBytes: 4 * MB,
  maxMessageBytes: 8 * MB,
  maxParts: 1000,
  maxArtifacts: 1000,
  maxHistory: 1000,
  maxInbox: 100,
  maxSubscribers: 20_000,
  maxSubscribersPerTask: 1000,
  maxLiveTasks: 100_000,
  maxWaitingRuns: 1000,
  maxRunsPerOwner: 1000,
  maxUncommittedEvents: 256,
  maxUncommittedBytes: 256 * KB,
  tailEvents: 512,
  tailBytes: 256 * KB,
  maxSteps: 10_000,
  maxStepBytes: MB,
  maxContextBytes: 64 * KB,
  observableBuffer: 1000,
  maxWait: 3_600_000,
  maxPollWait: 30_000,
};

/** The default limits with these changes. Throws a `TypeError` that names every invalid one. */
export function limitsFrom(partial: { readonly [Name in keyof Limits]?: number | undefined } = {}): Limits {
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = { ...DEFAULT_LIMITS };
  const problems: string[] = [];
  for (const [name, value] of Object.entries(partial)) {
    if (!isLimit(name))
      problems.push(`unknown limit ${JSON.stringify(name)}; known limits: ${Object.keys(DEFAULT_LIMITS).join(", ")}`);
    else if (value === undefined) continue;
    else if (isAllowed(value)) limits[name] = value;
    else problems.push(`${name} must be a whole number of at least 1, or Infinity, not ${String(value)}`);
  }
  if (problems.length > 0) throw new TypeError(`limits: ${problems.join("; ")}.`);
  return limits;
}

function isLimit(name: string): name is keyof Limits {
  return Object.hasOwn(DEFAULT_LIMITS, name);
}

function isAllowed(value: number): boolean {
  return value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value > 0);
}
