import type { JSX } from "preact";
import { href } from "../app/place.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Icon } from "../parts/icon.tsx";
import { useNow } from "../parts/moment.tsx";
import { Notice } from "../parts/notice.tsx";
import { kindOf } from "../parts/part-file.ts";
import { PartBody, PartCard } from "../parts/part-view.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { duration, plural } from "../text/format.ts";
import type { Outgoing } from "./conversation.ts";
import { isForPrograms, questionOf, readableText } from "./question.ts";
import { QuestionCard } from "./question-card.tsx";
import { type AgentTurn, artifactsOf, type UserTurn } from "./turns.ts";

/** What the person sent. */
export function UserTurnView({ turn }: { readonly turn: UserTurn }): JSX.Element {
  return (
    <li class="turn user">
      <span class="hidden">You: </span>
      {turn.isSecret === true ? (
        <p class="said">A secret, not shown</p>
      ) : (
        turn.parts.map((part, index) =>
          part.text !== undefined && part.filename === undefined ? (
            <p key={index} class="said">
              {part.text}
            </p>
          ) : part.data !== undefined ? (
            <pre key={index} class="said code">
              {JSON.stringify(part.data, undefined, 2)}
            </pre>
          ) : (
            <p key={index} class="said file">
              <Icon name="file" />
              {part.filename ?? part.url ?? "File"}
            </p>
          ),
        )
      )}
    </li>
  );
}

export interface AgentTurnProps {
  readonly agent: string;
  readonly name: string;
  readonly turn: AgentTurn;
  /** Whether the question of the task can be answered here. */
  readonly isLast: boolean;
  readonly onAnswer: (message: Outgoing) => void;
}

/** What the agent did with one message. */
export function AgentTurnView({ agent, name, turn, isLast, onAnswer }: AgentTurnProps): JSX.Element {
  const { task, message, notes, failure } = turn;
  const question = task === undefined || !isLast ? undefined : questionOf(task);
  const closing = task === undefined || question !== undefined ? "" : closingText(turn);
  const isWaiting = turn.endedAt === undefined;
  return (
    <li class="turn agent">
      <AgentFlag id={agent} size="large" />
      <div class="answer">
        <TurnHead name={name} turn={turn} />
        <Notes notes={notes} isOpen={isWaiting && turn.written.length === 0} />
        {artifactsOf(turn).map((artifact) => (
          <div key={artifact.artifactId} class="artifact">
            {artifact.parts.map((part, index) =>
              isProse(part) ? (
                <PartBody key={index} part={part} />
              ) : (
                <PartCard key={index} part={part} name={artifact.name ?? artifact.artifactId} />
              ),
            )}
          </div>
        ))}
        {message?.parts.map((part, index) =>
          isProse(part) ? <PartBody key={index} part={part} /> : <PartCard key={index} part={part} name="answer" />,
        )}
        {closing !== "" && <PartBody part={{ text: closing }} />}
        {isWaiting && question === undefined && <span class="caret" aria-hidden="true" />}
        {failure !== undefined && <Notice kind="bad">{failure}</Notice>}
        {question !== undefined && (
          <QuestionCard key={question.requestId ?? question.text} question={question} onAnswer={onAnswer} />
        )}
      </div>
    </li>
  );
}

/** Text without a name is read as part of the answer; anything else gets a card. */
function isProse(part: Parameters<typeof kindOf>[0]): boolean {
  return part.text !== undefined && part.filename === undefined && kindOf(part) === "markdown";
}

/** What the agent says with its last state; what it said before is in the notes. */
function closingText({ task, notes }: AgentTurn): string {
  const message = task?.status.message;
  if (message === undefined) return "";
  const text = readableText({ parts: message.parts.filter((part) => !isForPrograms(part)) });
  return notes.includes(text) ? "" : text;
}

function TurnHead({ name, turn }: { readonly name: string; readonly turn: AgentTurn }): JSX.Element {
  const { task, startedAt, endedAt, events } = turn;
  return (
    <header>
      <strong>{name}</strong>
      {task !== undefined && <StateMark state={task.status.state} />}
      <span class="meta">
        {events > 0 && `${plural(events, "event")}, `}
        {endedAt === undefined ? <Running since={startedAt} /> : duration(endedAt - startedAt)}
        {task !== undefined && (
          <a class="link" href={href(`tasks/${encodeURIComponent(task.id)}`)}>
            Task
          </a>
        )}
      </span>
    </header>
  );
}

function Running({ since }: { readonly since: number }): JSX.Element {
  return <>{duration(Math.max(0, useNow() - since))}</>;
}

/** What the agent said while it worked: the last note, and the others folded. */
function Notes({ notes, isOpen }: { readonly notes: readonly string[]; readonly isOpen: boolean }): JSX.Element | null {
  const last = notes.at(-1);
  if (last === undefined) return null;
  if (notes.length === 1) return <p class="note">{last}</p>;
  return (
    <details class="note" open={isOpen && notes.length <= 3}>
      <summary>
        {last} <small>{plural(notes.length, "note")}</small>
      </summary>
      {notes.slice(0, -1).map((note, index) => (
        <p key={index}>{note}</p>
      ))}
    </details>
  );
}
