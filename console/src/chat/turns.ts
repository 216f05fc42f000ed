import type { Artifact, Message, Task } from "palaver/client";
import type { WirePart } from "../data/operator-types.ts";
import { readableText } from "./question.ts";

/** What the person has sent. */
export interface UserTurn {
  readonly kind: "user";
  readonly key: string;
  readonly parts: readonly WirePart[];
  /** The answer was a secret: it is not shown. */
  readonly isSecret?: boolean;
}

/** What an agent did with one message. */
export interface AgentTurn {
  readonly kind: "agent";
  readonly key: string;
  /** Absent: the agent has not answered yet, or answered with a message alone. */
  readonly task?: Task;
  /** An answer without a task. */
  readonly message?: Message;
  /** Ids of the artifacts that this turn has written. */
  readonly written: readonly string[];
  /** How many characters of text artifacts had before this turn, by id: they are shown above. */
  readonly earlier: Readonly<Record<string, number>>;
  /** What the agent said about its work. */
  readonly notes: readonly string[];
  readonly events: number;
  readonly startedAt: number;
  /** Absent: it goes on. */
  readonly endedAt?: number;
  readonly failure?: string;
}

export type Turn = UserTurn | AgentTurn;

/** The artifacts that a turn shows: of those that it has continued, only what is new. */
export function artifactsOf({ task, written, earlier }: AgentTurn): readonly Artifact[] {
  const own = (task?.artifacts ?? []).filter(({ artifactId }) => written.includes(artifactId));
  return own.map((artifact) => {
    const before = earlier[artifact.artifactId] ?? 0;
    const [part, ...others] = artifact.parts;
    if (before === 0 || part?.text === undefined || others.length > 0 || part.text.length < before) return artifact;
    return { ...artifact, parts: [{ ...part, text: part.text.slice(before) }] };
  });
}

/** How many characters of text each artifact has. */
export function lengthsOf(artifacts: readonly Artifact[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    artifacts.map(({ artifactId, parts }) => [
      artifactId,
      parts.reduce((sum, part) => sum + (part.text?.length ?? 0), 0),
    ]),
  );
}

/** The turns of stored tasks, oldest first. */
export function turnsOfTasks(tasks: readonly Task[]): readonly Turn[] {
  return tasks.toSorted((a, b) => timeOf(a) - timeOf(b)).flatMap(turnsOfTask);
}

/** Ids of tasks begin with their time. */
function timeOf({ id, status }: Task): number {
  const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
  return Number.isNaN(time) ? Date.parse(status.timestamp ?? "") : time;
}

/** Each message of the person begins a turn; the last turn of a task has its artifacts. */
function turnsOfTask(task: Task): readonly Turn[] {
  const turns: Turn[] = [];
  let notes: string[] = [];
  const startedAt = timeOf(task);
  const end = (isLast: boolean): void => {
    const written = isLast ? (task.artifacts ?? []).map(({ artifactId }) => artifactId) : [];
    const key = `${task.id} ${turns.length}`;
    const endedAt = Date.parse(task.status.timestamp ?? "") || startedAt;
    turns.push({
      kind: "agent",
      key,
      ...(isLast && { task }),
      written,
      earlier: {},
      notes,
      events: 0,
      startedAt,
      endedAt,
    });
    notes = [];
  };
  let isOpen = false;
  for (const message of task.history ?? []) {
    if (message.role === "user") {
      if (isOpen && notes.length > 0) end(false);
      turns.push({ kind: "user", key: message.messageId, parts: message.parts });
      isOpen = true;
    } else if (message.messageId !== task.status.message?.messageId)
      notes = [...notes, readableText(message)].filter(Boolean);
  }
  end(true);
  return turns;
}
