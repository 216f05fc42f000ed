import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { announce } from "../app/announce.tsx";
import { href } from "../app/place.ts";
import type { Outgoing } from "../chat/conversation.ts";
import { isForPrograms } from "../chat/question.ts";
import { AnswerForm } from "../chat/question-card.tsx";
import { connection } from "../data/connection.ts";
import { ApiError, operatorApi } from "../data/operator-api.ts";
import type { WirePart } from "../data/operator-types.ts";
import { overview } from "../data/overview.ts";
import { usePolled } from "../data/polled.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Icon } from "../parts/icon.tsx";
import { MarkdownView } from "../parts/markdown-view.tsx";
import { useNow } from "../parts/moment.tsx";
import { Notice } from "../parts/notice.tsx";
import { PartCard } from "../parts/part-view.tsx";
import { wordsOf } from "../task/journal-words.ts";
import { agentName, taskTitle } from "../tasks/task-rows.tsx";
import { duration, exact } from "../text/format.ts";
import type { AnsweredTask, TakenAnswer, WaitingTask } from "./waiting-tasks.ts";

export interface InboxItemProps {
  readonly waiting: WaitingTask;
  /** Present as soon as the question is not open any more. */
  readonly taken: AnsweredTask | undefined;
  /** The own answer was taken. */
  readonly onAnswered: () => void;
}

/** One question: what is to be decided, a form for the answer, and what the agent did so far. */
export function InboxItem({ waiting, taken, onAnswered }: InboxItemProps): JSX.Element {
  const { task, question, until } = waiting;
  const now = useNow();
  const [isSent, setSent] = useState(false);
  const [lost, setLost] = useState<TakenAnswer>();
  const [failure, setFailure] = useState("");
  const send = async ({ parts }: Outgoing): Promise<void> => {
    if (isSent) return;
    setSent(true);
    setFailure("");
    try {
      await operatorApi.answer(task.key, {
        ...contentOf(parts),
        seq: task.seq,
        ...(question.requestId !== undefined && { requestId: question.requestId }),
      });
      announce("Answered");
      onAnswered();
    } catch (error) {
      setSent(false);
      const { details = {} } = error instanceof ApiError ? error : {};
      if (details["answeredBy"] !== undefined) setLost({ by: details["answeredBy"], text: details["answer"] ?? "" });
      else setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  const other = lost ?? (taken !== undefined && !isSent ? (taken.answer ?? { by: "", text: "" }) : undefined);
  const shown = (task.status.message?.parts ?? []).filter((part) => part.text === undefined && !isHidden(part));
  return (
    <section class="inbox-item" aria-label="The question">
      <a class="button narrow-only" href={href("inbox")}>
        <Icon name="left" />
        All questions
      </a>
      <p class="soft">
        <AgentFlag id={task.agent} /> {agentName(task.agent)}, about “{taskTitle(task)}”, has waited for{" "}
        {duration(now - Date.parse(task.statusAt))}
        {until === undefined ? "" : `, stops waiting in ${duration(until - now)} (${exact(until)})`}
      </p>
      <div class="question-title" role="heading" aria-level={2}>
        <MarkdownView text={question.text} />
      </div>
      {shown.map((part, index) => (
        <PartCard key={index} part={part} name={part.filename ?? "What it is about"} />
      ))}
      {other !== undefined && <Outrun answer={other} />}
      {failure !== "" && <Notice kind="bad">{failure} What you typed is still here.</Notice>}
      <fieldset class="answer-form" disabled={other !== undefined || isSent || connection.value.lostAt !== undefined}>
        <AnswerForm question={question} onAnswer={(message) => void send(message)} />
      </fieldset>
      <p class="soft">
        Answers as {overview.value?.server.you ?? "you"}. The first answer counts.{" "}
        <a class="link" href={href(`tasks/${encodeURIComponent(task.key)}`)}>
          Open the task
        </a>
      </p>
      <SoFar taskKey={task.key} />
    </section>
  );
}

/** Schemas and authorisation requests are for programs. */
function isHidden(part: WirePart): boolean {
  // Safe cast: parts of the operator API have the form of 1.0, as those of the client.
  return isForPrograms(part as Parameters<typeof isForPrograms>[0]);
}

/** Somebody else was first. What one has typed stays, so that it can be copied. */
function Outrun({ answer }: { readonly answer: TakenAnswer }): JSX.Element {
  return (
    <div class="outrun" role="alert">
      <Icon name="person" />
      <p>
        {answer.by === "" ? (
          <strong>The question is not open any more.</strong>
        ) : (
          <>
            <strong>{answer.by}</strong> answered first
            {answer.text === "" ? "." : ": "}
            {answer.text !== "" && <q>{answer.text}</q>}
          </>
        )}{" "}
        Your answer was not sent; what you typed is still below.
      </p>
    </div>
  );
}

/** The members of an answer. */
function contentOf(parts: readonly WirePart[]): { readonly text?: string; readonly data?: unknown } {
  const [part] = parts;
  if (part?.data !== undefined) return { data: part.data };
  return { text: part?.text ?? "" };
}

const MOST_STEPS = 12;

/** The last steps of the task. */
function SoFar({ taskKey }: { readonly taskKey: string }): JSX.Element | null {
  const { value } = usePolled({
    key: `so far ${taskKey}`,
    load: (signal) => operatorApi.outline(taskKey, { log: "false" }, signal),
  });
  const done = (value?.journal ?? []).filter(({ kind }) => kind === "step" || kind === "child").slice(-MOST_STEPS);
  if (done.length === 0) return null;
  return (
    <>
      <h3>What it did so far</h3>
      <ul class="so-far">
        {done.map((entry) => (
          <li key={`${entry.kind} ${entry.turn} ${entry.key}`}>
            <Icon name={entry.outcome === "completed" ? "check" : entry.outcome === undefined ? "step" : "warning"} />
            <span class="cut">{wordsOf(entry)}</span>
            <small>{entry.end === undefined ? "" : duration(entry.end - entry.start)}</small>
          </li>
        ))}
      </ul>
    </>
  );
}
