import { useEffect, useRef, useState } from "preact/hooks";
import { questionIn } from "../chat/question.ts";
import { operatorApi } from "../data/operator-api.ts";
import type { TaskRow, WireMessage } from "../data/operator-types.ts";
import { type Polled, usePolled } from "../data/polled.ts";

/** A task that asks, and what it asks. */
export interface WaitingTask {
  /** The task and its question: another question of the same task is another one. */
  readonly key: string;
  readonly task: TaskRow;
  readonly question: ReturnType<typeof questionIn>;
  /** When the agent stops waiting, in milliseconds since 1970. */
  readonly until: number | undefined;
}

/** A question that was open while this page was, and is not any more. */
export interface AnsweredTask extends WaitingTask {
  readonly answeredAt: number;
  /** `undefined`: not known yet. */
  readonly answer: TakenAnswer | undefined;
}

/** What was answered, and by whom. */
export interface TakenAnswer {
  readonly by: string;
  /** Empty for secrets, and if the question was not answered at all. */
  readonly text: string;
}

const EVERY = 2000;
const MOST = 200;
/** Milliseconds for which answered questions stay in the list. */
const KEPT = 3_600_000;
const MOST_KEPT = 50;

export type Order = "left" | "oldest";

export interface Inbox {
  readonly waiting: readonly WaitingTask[] | undefined;
  readonly answered: readonly AnsweredTask[];
  /** More tasks wait than were read. */
  readonly hasMore: boolean;
  readonly polled: Polled<unknown>;
}

/** Everything that waits for a person, of all agents. */
export function useInbox(order: Order): Inbox {
  const polled = usePolled({
    key: "inbox",
    every: EVERY,
    load: async (signal) => {
      const pages = await Promise.all(
        ["input-required", "auth-required"].map((state) =>
          operatorApi.tasks({ state, limit: MOST, text: "true" }, signal),
        ),
      );
      return {
        tasks: pages.flatMap(({ tasks }) => tasks).map(waitingTask),
        hasMore: pages.some(({ next }) => next !== undefined),
      };
    },
  });
  const { value } = polled;
  const answered = useAnswered(value?.tasks);
  return { waiting: value?.tasks.toSorted(COMPARE[order]), answered, hasMore: value?.hasMore === true, polled };
}

function waitingTask(task: TaskRow): WaitingTask {
  // Safe cast: messages in the operator API have the members of the client's, apart from the name of the role.
  const { message } = task.status as Pick<Parameters<typeof questionIn>[1], "message">;
  const question = questionIn(task.id, { state: task.state, ...(message !== undefined && { message }) });
  const end = question.authorization?.expiresAt ?? task.wakeAt;
  return {
    key: `${task.key} ${question.requestId ?? task.statusAt}`,
    task,
    question,
    until: end === undefined ? undefined : Date.parse(end),
  };
}

const byAge = (a: WaitingTask, b: WaitingTask): number => a.task.statusAt.localeCompare(b.task.statusAt);

const COMPARE: Readonly<Record<Order, (a: WaitingTask, b: WaitingTask) => number>> = {
  oldest: byAge,
  left: (a, b) =>
    (a.until ?? Number.POSITIVE_INFINITY) === (b.until ?? Number.POSITIVE_INFINITY)
      ? byAge(a, b)
      : (a.until ?? Number.POSITIVE_INFINITY) - (b.until ?? Number.POSITIVE_INFINITY),
};

/** Questions that were open and are not any more, newest first, with who answered what. */
function useAnswered(waiting: readonly WaitingTask[] | undefined): readonly AnsweredTask[] {
  const [answered, setAnswered] = useState<readonly AnsweredTask[]>([]);
  const before = useRef<readonly WaitingTask[]>([]);
  useEffect(() => {
    if (waiting === undefined) return;
    const open = new Set(waiting.map(({ key }) => key));
    const gone = before.current.filter(({ key }) => !open.has(key));
    before.current = waiting;
    if (gone.length === 0) return;
    const answeredAt = Date.now();
    setAnswered((kept) =>
      [...gone.map((each) => ({ ...each, answeredAt, answer: undefined })), ...kept]
        .filter((each) => answeredAt - each.answeredAt < KEPT)
        .slice(0, MOST_KEPT),
    );
    for (const each of gone)
      readAnswer(each).then(
        (answer) => setAnswered((kept) => kept.map((one) => (one.key === each.key ? { ...one, answer } : one))),
        () => undefined,
      );
  }, [waiting]);
  return answered;
}

/** The message that followed the question. */
async function readAnswer({ task, question }: WaitingTask): Promise<TakenAnswer> {
  const { history, task: now } = await operatorApi.task(task.key, { journal: "false" });
  const found = history.find(({ after, message }) => after >= task.seq && message.role === "ROLE_USER")?.message;
  if (found !== undefined) return { by: answererOf(found, task.owner), text: question.isSecret ? "" : textOf(found) };
  return { by: "", text: now.state === "canceled" ? "canceled" : question.isSecret ? "" : now.state };
}

/** Operators are named in the metadata of their answers; other answers are those of the caller. */
function answererOf({ metadata }: WireMessage, owner: string): string {
  const by = metadata?.["answeredBy"];
  return typeof by === "string" ? by : owner;
}

function textOf({ parts = [] }: WireMessage): string {
  return parts.map(({ text, data }) => text ?? (data === undefined ? "a file" : JSON.stringify(data))).join(" ");
}
