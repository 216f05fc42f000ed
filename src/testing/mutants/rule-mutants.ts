import type {
  ClaimQuery,
  CommitKey,
  ContextValue,
  ContextWrite,
  DueTasks,
  DueWebhook,
  JournalRecord,
  KnownTask,
  NodeClaims,
  OperatorPage,
  OperatorQuery,
  Outcome,
  Store,
  StoreOperation,
  TaskChange,
  WaitingEntry,
} from "../../store/contract.ts";
import { START } from "../store-operations.ts";
import { applyTo, type Mutant, PassingStore, withOperations } from "./mutant-store.ts";

// Stores that break a rule even without two calls at the same time.

const EVERY_AGENT = ["echo", "a", "b", "c", "other"];

/** The methods that a mutant replaces. */
type Replacements = Partial<
  Pick<
    Store,
    "changes" | "claimDue" | "claimWebhooks" | "claimsOf" | "commit" | "journal" | "listAll" | "waitingEntries"
  >
>;

/** A store with some methods replaced. */
function withMethods(replace: (inner: Store) => Replacements): Mutant["open"] {
  return (inner) => Object.assign(new PassingStore(inner), replace(inner));
}

function changedDue(change: (due: DueTasks) => DueTasks): Mutant["open"] {
  return withMethods((inner) => ({ claimDue: async (query: ClaimQuery) => change(await inner.claimDue(query)) }));
}

/** Remembers the outcomes of all commits, and so applies a commit that arrives after a later one. */
function acceptsLate(inner: Store): Replacements {
  const known = new Map<string, Promise<readonly Outcome[]>>();
  return {
    commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
      if (key === undefined) return inner.commit(operations);
      const name = JSON.stringify([key.writer, key.n]);
      const outcomes = known.get(name) ?? inner.commit(operations);
      known.set(name, outcomes);
      return outcomes;
    },
  };
}

/** Moves the posts of a commit before its other operations. */
function postsFirst(inner: Store): Replacements {
  return {
    async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
      const placed = operations.map((operation, index) => ({ operation, index }));
      const isPost = ({ operation }: (typeof placed)[number]): boolean => operation.kind === "post";
      // A post to a task that the commit creates must follow the create.
      const created = new Set(operations.flatMap((each) => (each.kind === "write" && each.create ? [each.task] : [])));
      const isFirst = (each: (typeof placed)[number]): boolean => isPost(each) && !created.has(each.operation.task);
      const order = [...placed.filter(isFirst), ...placed.filter((each) => !isFirst(each))];
      const outcomes = await inner.commit(
        order.map(({ operation }) => operation),
        key,
      );
      // A repeated commit may have had other operations.
      if (outcomes.length !== placed.length) return outcomes;
      return placed.map(
        ({ index }) => outcomes[order.findIndex((each) => each.index === index)] ?? { status: "fenced" },
      );
    },
  };
}

/** Moves a journal record that is replaced to the end. */
function movedRecords(inner: Store): Replacements {
  const order: string[] = [];
  return {
    commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
      for (const operation of operations) {
        const journal = "journal" in operation ? operation.journal : undefined;
        for (const record of journal === undefined ? [] : "key" in journal ? [journal] : journal)
          order.push(record.key);
      }
      return inner.commit(operations, key);
    },
    async journal(id: Parameters<Store["journal"]>[0]): Promise<readonly JournalRecord[]> {
      const records = await inner.journal(id);
      return records.toSorted((a, b) => order.lastIndexOf(a.key) - order.lastIndexOf(b.key));
    },
  };
}

/** Keeps the journal when the log is deleted. */
function keptJournal(inner: Store): Replacements {
  const kept = new Map<string, readonly JournalRecord[]>();
  return {
    async journal(id: Parameters<Store["journal"]>[0]): Promise<readonly JournalRecord[]> {
      const records = await inner.journal(id);
      if (records.length > 0) kept.set(id, records);
      return kept.get(id) ?? [];
    },
  };
}

/** Counts the versions of each key from 1, and again from 1 after the value was deleted. */
class ReusedVersions extends PassingStore {
  readonly #inner: Store;
  /** The real version and the counted one of each value. */
  readonly #values = new Map<string, { readonly real: number; readonly counted: number }>();

  constructor(inner: Store) {
    super(inner);
    this.#inner = inner;
  }

  override async commit(...[operations, key]: Parameters<Store["commit"]>): Promise<readonly Outcome[]> {
    if (key !== undefined || operations.every(({ kind }) => kind !== "context-write"))
      return this.#inner.commit(operations, key);
    const outcomes: Outcome[] = [];
    for (const operation of operations)
      outcomes.push(
        await (operation.kind === "context-write" ? this.#write(operation) : applyTo(this.#inner, operation)),
      );
    return outcomes;
  }

  override async contextValues(...call: Parameters<Store["contextValues"]>): Promise<readonly ContextValue[]> {
    const values = await this.#inner.contextValues(...call);
    return values.map((value) => ({
      ...value,
      version: this.#values.get(JSON.stringify([...call, value.key]))?.counted ?? value.version,
    }));
  }

  async #write(operation: ContextWrite): Promise<Outcome> {
    const record = await this.#inner.get(operation.task, { artifacts: false });
    if (record === undefined) return applyTo(this.#inner, operation);
    const { scope, contextId } = record;
    const name = JSON.stringify([scope, contextId, operation.key]);
    const values = await this.#inner.contextValues(scope, contextId);
    if (values.every(({ key }) => key !== operation.key)) this.#values.delete(name);
    const present = this.#values.get(name) ?? { real: 0, counted: 0 };
    const expected = operation.expected === present.counted ? present.real : -1;
    const outcome = await applyTo(this.#inner, { ...operation, ...(operation.expected !== undefined && { expected }) });
    if (outcome.status !== "ok" || outcome.version === undefined) return outcome;
    const counted = (this.#values.get(name)?.counted ?? 0) + 1;
    if (operation.value === undefined) this.#values.delete(name);
    else this.#values.set(name, { real: outcome.version, counted });
    return { ...outcome, version: counted };
  }
}

const keyMutants: readonly Mutant[] = [
  {
    name: "ignores the key of a commit",
    open: withMethods((inner) => ({ commit: (operations: readonly StoreOperation[]) => inner.commit(operations) })),
    failing: [
      "returns the same outcomes for a commit",
      "remembers the last commit of each writer",
      "refuses a commit that arrives after a later one",
      "remembers a commit that was refused",
      "race: of two commits with one key",
    ],
  },
  {
    name: "applies a commit that arrives after a later one of its writer",
    open: withMethods(acceptsLate),
    failing: ["refuses a commit that arrives after a later one"],
  },
  {
    name: "does not distinguish the writers of commits",
    open: withMethods((inner) => ({
      commit: (operations: readonly StoreOperation[], key?: CommitKey) =>
        inner.commit(operations, key && { ...key, writer: "w" }),
    })),
    failing: [
      "returns the same outcomes for a commit",
      "remembers the last commit of each writer",
      "remembers a commit that was refused",
    ],
  },
  {
    name: "looks for the unique prefix of a post only among waiting entries",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "post" || operation.uniquePrefix === undefined) return undefined;
      const { uniquePrefix: prefix, ...unchecked } = operation;
      return (async () => {
        const isWaiting = (await inner.inbox(operation.task)).some(({ id }) => id.startsWith(prefix));
        return applyTo(inner, isWaiting ? operation : unchecked);
      })();
    }),
    failing: [
      "refuses a post while an entry whose id has its unique prefix",
      "race: of two posts with one unique prefix",
    ],
  },
  {
    name: "applies the posts of a commit before its writes",
    open: withMethods(postsFirst),
    failing: ["applies a batch in order", "answers a post with the node that has the lease"],
  },
];

const claimMutants: readonly Mutant[] = [
  {
    name: "claims tasks of agents that the node does not serve",
    open: withMethods((inner) => ({
      claimDue: (query: ClaimQuery) => inner.claimDue({ ...query, agents: EVERY_AGENT }),
    })),
    failing: ["claims only tasks of the node's agents", "returns the earliest wake time"],
  },
  {
    name: "claims webhooks of agents that the node does not serve",
    open: withMethods((inner) => ({
      claimWebhooks: (query: ClaimQuery): Promise<readonly DueWebhook[]> =>
        inner.claimWebhooks({ ...query, agents: EVERY_AGENT }),
    })),
    failing: ["claims only webhooks of tasks"],
  },
  {
    name: "returns the newest due task first",
    open: changedDue((due) => ({ ...due, tasks: due.tasks.toReversed() })),
    failing: [
      "claims the due tasks",
      "claims at most limit tasks",
      "claims only tasks of the node's agents",
      "names the former node",
      "returns a wake time that has passed",
    ],
  },
  {
    name: "ignores the limit of claimDue",
    open: withMethods((inner) => ({ claimDue: (query: ClaimQuery) => inner.claimDue({ ...query, limit: 1000 }) })),
    failing: ["claims at most limit tasks", "returns a wake time that has passed"],
  },
  {
    name: "ignores the limit of claimWebhooks",
    open: withMethods((inner) => ({
      claimWebhooks: (query: ClaimQuery) => inner.claimWebhooks({ ...query, limit: 1000 }),
    })),
    failing: ["claims active webhooks that no living node has"],
  },
  {
    name: "returns the former epoch of a due task",
    open: changedDue((due) => ({ ...due, tasks: due.tasks.map((task) => ({ ...task, epoch: task.epoch - 1 })) })),
    failing: [
      "returns scope, head, seq and the new epoch",
      "claims no task whose lease a living node has",
      "race: no write of the former holder",
      "race: two nodes that call claimDue",
    ],
  },
  {
    name: "does not name the former node of a due task",
    open: changedDue((due) => ({ ...due, tasks: due.tasks.map(({ formerNode: _, ...task }) => task) })),
    failing: ["returns scope, head, seq and the new epoch", "names the former node"],
  },
  {
    name: "returns no wake time",
    open: changedDue(({ tasks }) => ({ tasks })),
    failing: ["returns the earliest wake time", "returns a wake time that has passed"],
  },
  {
    name: "returns the end of the node's own lease as the next lapse",
    open: changedDue((due) => ({ ...due, nextLapse: START + 1000 })),
    failing: ["returns the end of the earliest lease of another living node"],
  },
  {
    name: "counts the node itself among the others",
    open: changedDue((due) => ({ ...due, others: 1 })),
    failing: ["counts the other living nodes"],
  },
  {
    name: "returns no waiting entries with a claim, although there are some",
    open: changedDue((due) => ({ ...due, waiting: [] })),
    failing: ["returns the inbox entries of the node's tasks"],
  },
  {
    name: "returns the first of the later events instead of none if there are too many",
    open: withMethods((inner) => ({
      async changes(known: readonly KnownTask[], messages: number): Promise<readonly TaskChange[]> {
        const whole = await inner.changes(known, messages);
        const page = async (change: TaskChange): Promise<TaskChange> => {
          const task = known.find(({ id, after }) => id === change.id && after < change.seq);
          if (change.entries !== undefined || task === undefined) return change;
          return { ...change, entries: await inner.log(task.id, task.after, task.maxBytes) };
        };
        return Promise.all(whole.map(page));
      },
    })),
    failing: ["returns either all later events of a task or none", "returns the changes of a task whose events"],
  },
  {
    name: "returns changes of tasks that have none",
    open: withMethods((inner) => ({
      changes: (known: readonly KnownTask[], messages: number) =>
        inner.changes(
          known.map((task) => ({ ...task, after: Math.max(0, task.after - 1) })),
          messages,
        ),
    })),
    failing: ["returns seq, head and later events", "returns either all later events of a task or none"],
  },
  {
    name: "leaves cancel requests out of the waiting entries",
    open: withMethods((inner) => ({
      async waitingEntries(node: string): Promise<readonly WaitingEntry[]> {
        const found: WaitingEntry[] = [];
        for (const entry of await inner.waitingEntries(node)) {
          const inbox = await inner.inbox(entry.task);
          if (inbox.find(({ id }) => id === entry.id)?.kind === "message") found.push(entry);
        }
        return found;
      },
    })),
    failing: ["returns the ids of all inbox entries"],
  },
  {
    name: "leaves webhooks out of the claims of a node",
    open: withMethods((inner) => ({
      claimsOf: async (node: string): Promise<NodeClaims> => ({ ...(await inner.claimsOf(node)), webhooks: [] }),
    })),
    failing: ["returns the tasks and webhooks that a node has claimed", "returns the claims of claimDue"],
  },
];

const contentMutants: readonly Mutant[] = [
  {
    name: "moves a replaced journal record to the end",
    open: withMethods(movedRecords),
    failing: [
      "returns the journal in the order",
      "keeps the journal after the end",
      "adds the record of a delivery to the journal",
    ],
  },
  {
    name: "keeps the journal when it deletes the log",
    open: withMethods(keptJournal),
    failing: ["deletes the journal with the log"],
  },
  {
    name: "does not store the journal record of a delivery",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "webhook-advance") return undefined;
      const { journal: _, ...advance } = operation;
      return applyTo(inner, advance);
    }),
    failing: ["adds the record of a delivery to the journal"],
  },
  {
    name: "uses the version of a context value again",
    open: (inner) => new ReusedVersions(inner),
    failing: ["gives each change of a context a higher version"],
  },
  {
    name: "does not store the step of a context write",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "context-write") return undefined;
      const { step: _, ...write } = operation;
      return applyTo(inner, write);
    }),
    failing: ["stores the step of a context write", "race: of two context writes that expect"],
  },
  {
    name: "stores the step of a context write that is a conflict",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "context-write" || operation.step === undefined) return undefined;
      const { task, epoch, step } = operation;
      return (async () => {
        const outcome = await applyTo(inner, operation);
        const parts = { entries: [], history: [], taken: [], forgetSteps: false, release: false };
        if (outcome.status === "conflict")
          await applyTo(inner, { kind: "write", task, epoch, ...parts, steps: [step] });
        return outcome;
      })();
    }),
    failing: ["stores the step of a context write", "race: of two context writes that expect"],
  },
  {
    name: "counts the characters of context values instead of the bytes",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "context-write" || operation.value === undefined) return undefined;
      const { value, key } = operation;
      const extra = Buffer.byteLength(key + value) - (key + value).length;
      return applyTo(inner, { ...operation, maxBytes: operation.maxBytes + extra });
    }),
    failing: ["refuses a value that would take the keys"],
  },
  {
    name: "does not store the parent of a task",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "write" || operation.create?.parent === undefined) return undefined;
      const { parent: _, ...create } = operation.create;
      return applyTo(inner, { ...operation, create });
    }),
    failing: ["finds the tasks that a task has called"],
  },
];

/** The filters of `listAll`, and the cases that fail if one is ignored. */
const FILTERS: Readonly<Partial<Record<keyof OperatorQuery, readonly string[]>>> = {
  agent: [
    "filters the list for operators by agent",
    "filters the list for operators by status time",
    "finds the tasks that a task has called",
  ],
  tenant: ["filters the list for operators by agent"],
  owner: ["filters the list for operators by agent"],
  contextId: ["filters the list for operators by agent"],
  state: ["filters the list for operators by agent", "finds the tasks that a task has called"],
  parent: ["finds the tasks that a task has called"],
  root: ["finds the tasks that a task has called"],
  statusSince: ["filters the list for operators by status time"],
  statusBefore: ["filters the list for operators by status time"],
};

const listMutants: readonly Mutant[] = [
  ...Object.entries(FILTERS).map(([filter, failing]) => ({
    name: `ignores the filter ${filter} of listAll`,
    open: withMethods((inner) => ({
      listAll: (query: OperatorQuery): Promise<OperatorPage> =>
        // Safe: every filter may be absent; `limit` is not in the table.
        inner.listAll(
          Object.fromEntries(Object.entries(query).filter(([name]) => name !== filter)) as unknown as OperatorQuery,
        ),
    })),
    failing,
  })),
  {
    name: "skips tasks with the status time of the cursor in listAll",
    open: withMethods((inner) => ({
      listAll: ({ before, ...query }: OperatorQuery): Promise<OperatorPage> =>
        inner.listAll({ ...query, ...(before !== undefined && { before: { ...before, id: "" } }) }),
    })),
    failing: ["lists the tasks of all scopes for operators"],
  },
  {
    name: "returns the history of tasks in listAll",
    open: withMethods((inner) => ({
      async listAll(query: OperatorQuery): Promise<OperatorPage> {
        const page = await inner.listAll(query);
        const tasks = await Promise.all(
          page.tasks.map(async (task) => (await inner.get(task.id, { artifacts: false })) ?? task),
        );
        return { ...page, tasks };
      },
    })),
    failing: ["lists records for operators without history"],
  },
];

export const ruleMutants: readonly Mutant[] = [...keyMutants, ...claimMutants, ...contentMutants, ...listMutants];
