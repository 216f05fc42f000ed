/** Limits of one process and of one task. Each is a whole number of at least 1, or `Infinity`. */
export interface Limits {
  /** Bytes of one task's log. Over it, writing rejects with `task-too-large`. */
  readonly maxTaskBytes: number;
  /** Bytes of one event as stored. Over it, writing rejects with `event-too-large`. */
  readonly maxEventBytes: number;
  /** Bytes of one message as stored. Over it the caller gets `payload-too-large`. */
  readonly maxMessageBytes: number;
  /** Parts of one message. Over it the caller gets `payload-too-large`. */
  readonly maxParts: number;
  /** Artifacts of one task. Over it, writing a further one rejects. */
  readonly maxArtifacts: number;
  /** Messages of one task. Over it the caller gets `resource-exhausted`. */
  readonly maxHistory: number;
  /** Unread messages of one task. Over it the caller gets `resource-exhausted`. */
  readonly maxInbox: number;
  /** Subscriptions open in this process. Over it the caller gets `resource-exhausted`. */
  readonly maxSubscribers: number;
  /** Subscriptions open on one task. Over it the caller gets `resource-exhausted`. */
  readonly maxSubscribersPerTask: number;
  /** Tasks running or queued in this process. Over it the caller gets `resource-exhausted`. */
  readonly maxLiveTasks: number;
  /** Tasks of one authenticated caller running or queued in this process. Over it the caller gets `resource-exhausted`. */
  readonly maxRunsPerOwner: number;
  /** Uncommitted events of one task. At the limit, writing waits. */
  readonly maxUncommittedEvents: number;
  /** Bytes of one task's uncommitted events. At the limit, writing waits. */
  readonly maxUncommittedBytes: number;
  /** Events of a running task that stay in memory for its subscribers. Slower subscribers read from the store. */
  readonly tailEvents: number;
  /** Bytes of a running task's events that stay in memory for its subscribers. Slower subscribers read from the store. */
  readonly tailBytes: number;
  /** Steps, questions and sleeps of one task. Over it the next one rejects. */
  readonly maxSteps: number;
  /** Bytes of one step's result as JSON. Over it the step rejects. */
  readonly maxStepBytes: number;
  /** Buffered values of an Observable. Over it the run fails with `observable-overflow`. */
  readonly observableBuffer: number;
  /** Milliseconds that a blocking send waits for its task to end or to ask a question. After it, the send returns the current task. */
  readonly maxWait: number;
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
  maxSubscribers: 10_000,
  maxSubscribersPerTask: 1000,
  maxLiveTasks: 100_000,
  maxRunsPerOwner: 1000,
  maxUncommittedEvents: 256,
  maxUncommittedBytes: 256 * KB,
  tailEvents: 512,
  tailBytes: 256 * KB,
  maxSteps: 10_000,
  maxStepBytes: MB,
  observableBuffer: 1000,
  maxWait: 3_600_000,
};

/** The defaults, overridden by `partial`. Throws a `TypeError` that lists every unknown or invalid limit. */
export function limitsFrom(partial: { readonly [Name in keyof Limits]?: number | undefined } = {}): Limits {
  const limits: { -readonly [Name in keyof Limits]: Limits[Name] } = { ...DEFAULT_LIMITS };
  const problems: string[] = [];
  for (const [name, value] of Object.entries(partial)) {
    if (!isLimit(name))
      problems.push(`unknown limit ${JSON.stringify(name)}; known: ${Object.keys(DEFAULT_LIMITS).join(", ")}`);
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
