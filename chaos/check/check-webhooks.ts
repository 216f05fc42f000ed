import type { TaskPicture } from "../event-line.ts";
import type { Entry } from "../journal.ts";
import { picturesOf, type TaskTruth } from "../truth.ts";
import { compareStories } from "./compare-stories.ts";
import type { Discrepancy } from "./discrepancy.ts";

export type Notified = Extract<Entry, { kind: "notified" }>;

/**
 * Checks that a webhook of events received every event at least once and in order; a repeated notification has the same
 * id and directly follows the first.
 */
export function checkEventWebhook(truth: TaskTruth, notified: readonly Notified[]): Discrepancy[] {
  const { name: task, log } = truth;
  const who = notified[0]?.hook ?? "webhook";
  const { distinct, found } = withoutRepeats(notified);
  const wholes = distinct.filter(({ content }) => typeof content !== "string");
  if (wholes.length > 0) {
    const seen = distinct.map(({ content }) =>
      typeof content === "string" ? content : `the whole task: ${content.status}`,
    );
    const what = `${wholes.length} of ${distinct.length} notifications were whole tasks`;
    return [...found, { kind: "whole-task", task, who, what, expected: log.slice(0, 20), seen: seen.slice(0, 20) }];
  }
  return [...found, ...compareStories({ task, who, expected: log, seen: distinct.map(describe) })];
}

/**
 * Checks that a webhook of whole tasks received states that the task had, in order, after each change of status, and at
 * the end.
 */
export function checkTaskWebhook(truth: TaskTruth, notified: readonly Notified[]): Discrepancy[] {
  const { name: task, events } = truth;
  const who = notified[0]?.hook ?? "webhook";
  const { distinct, found } = withoutRepeats(notified);
  const pictures = [...picturesOf(events)].map(textOfPicture);
  let position = 0;
  for (const { content } of distinct) {
    const picture = typeof content === "string" ? content : textOfPicture(content);
    const at = pictures.indexOf(picture, position);
    if (at === -1) {
      const isOlder = pictures.includes(picture);
      const what = isOlder ? "received an older state of the task" : "received a state that the task never had";
      const kind = isOlder ? "out-of-order" : "changed";
      return [...found, { kind, task, who, what, expected: pictures.slice(position).slice(0, 5), seen: [picture] }];
    }
    position = at + 1;
  }
  const statuses = events.flatMap((event, index) => (event.kind === "status" ? [statusIn(pictures[index])] : []));
  const seen = distinct.map(({ content }) => statusIn(typeof content === "string" ? content : textOfPicture(content)));
  const compared = compareStories({ task, who, expected: collapsed(statuses), seen: collapsed(seen) });
  const hasLastStatus = statuses.at(-1) === seen.at(-1);
  return [...found, ...compared.map((one): Discrepancy => (hasLastStatus && one.kind === "lost" ? skipped(one) : one))];
}

/** Later tasks include this change, but no notification had this status. */
function skipped(lost: Discrepancy): Discrepancy {
  return { ...lost, kind: "skipped-status" };
}

function withoutRepeats(notified: readonly Notified[]): {
  readonly distinct: Notified[];
  readonly found: Discrepancy[];
} {
  const distinct: Notified[] = [];
  const found: Discrepancy[] = [];
  const known = new Map<string, Notified>();
  for (const notification of notified) {
    const { task, hook: who, jti, content } = notification;
    const before = known.get(jti);
    known.set(jti, notification);
    if (before === undefined) distinct.push(notification);
    else if (JSON.stringify(before.content) !== JSON.stringify(content)) {
      const what = `two notifications have the id ${jti} and different contents`;
      const kind = typeof before.content === typeof content ? "changed" : "whole-task";
      found.push({ kind, task, who, what, expected: [describe(before)], seen: [describe(notification)] });
    } else if (distinct.at(-1)?.jti !== jti) {
      const what = "a notification was repeated after later ones";
      found.push({ kind: "out-of-order", task, who, what, seen: [describe(notification)] });
    }
  }
  return { distinct, found };
}

function describe({ content }: Notified): string {
  return typeof content === "string" ? content : textOfPicture(content);
}

function textOfPicture({ status, artifacts }: TaskPicture): string {
  const texts = Object.entries(artifacts).sort(([a], [b]) => (a < b ? -1 : 1));
  return [status, ...texts.map(([name, text]) => `${name}: ${text}`)].join(" | ");
}

function statusIn(picture = ""): string {
  return picture.split(" | ", 1)[0] ?? "";
}

/** The lines without consecutive duplicates. */
function collapsed(lines: readonly string[]): string[] {
  return lines.filter((line, index) => line !== lines[index - 1]);
}
