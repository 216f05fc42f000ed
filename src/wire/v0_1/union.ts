import { readMessage, readTask, type StoredTask } from "../../protocol/serial.ts";
import type { LargeTaskFormat, RpcCodec } from "../codec.ts";
import { isWireObject, type WireObject } from "../fields/fields.ts";
import { largeTaskFormat, partsBy } from "../large-task.ts";
import { eventObject as newerEventObject } from "../v0_3/event.ts";
import { OFFICIAL } from "../v0_3/format.ts";
import { messageObject as newerMessageObject } from "../v0_3/message.ts";
import { partObject as newerPartObject } from "../v0_3/part.ts";
import { artifactObject as newerArtifactObject, taskObject as newerTaskObject } from "../v0_3/task.ts";
import { artifactNumbersOf } from "./artifact-numbers.ts";
import { EVENT_FORMAT, type EventFormat, encodeEvent, encodeOpening, eventName } from "./event.ts";
import { messageObject } from "./message.ts";
import { partObject } from "./part.ts";
import { artifactObject, taskObject } from "./task.ts";

/**
 * For methods that 0.1 shares with a newer version of 0.x, such as `tasks/get`, called without `A2A-Version`. A task that was created in
 * 0.1 is written with the members of both versions, because its reader may use either. Every other task is written in the newer format.
 */
export function createUnionRpcCodec(newer: RpcCodec): RpcCodec {
  return {
    ...newer,
    dialect: `0.1+${newer.dialect}`,
    policy: { ...newer.policy, numbersArtifacts: isOlder },
    encodeResult: (result) => {
      const isTask = result.kind === "task" || result.kind === "sent";
      return isTask && isOlder(result.task.dialect) ? encodeTask(result.task) : newer.encodeResult(result);
    },
    encodeOpening: (opening) => {
      const isUnion = opening.kind === "task" && isOlder(opening.task.dialect);
      return isUnion ? encodeOpening(opening, UNION) : newer.encodeOpening(opening);
    },
    streamState: (task, artifacts) => (isOlder(task.dialect) ? artifactNumbersOf(task, artifacts) : undefined),
    encodeEvent: (event, place) =>
      isOlder(place.origin) ? encodeEvent(event, place, UNION) : newer.encodeEvent(event, place),
    largeTask: (task) => (isOlder(task.dialect) ? LARGE_TASK : newer.largeTask(task)),
    eventName,
  };
}

function isOlder(origin: string | undefined): boolean {
  return origin?.startsWith("0.1/") === true;
}

const UNION: EventFormat = {
  name: "0.1+0.3",
  eventObject: (event, place, index) =>
    union(newerEventObject(event, place), EVENT_FORMAT.eventObject(event, place, index)),
};

function encodeTask(stored: StoredTask): string {
  const task = readTask(stored);
  return JSON.stringify(union(newerTaskObject(task), taskObject(task)));
}

const LARGE_TASK: LargeTaskFormat = largeTaskFormat({
  artifact: (artifact, index) =>
    JSON.stringify(union(newerArtifactObject(artifact, OFFICIAL), artifactObject(artifact, { index }))),
  parts: partsBy((part) => union(newerPartObject(part), partObject(part))),
  message: (stored) => {
    const message = readMessage(stored);
    return JSON.stringify(union(newerMessageObject(message), messageObject(message)));
  },
});

/**
 * Merges the members of both formats, at every level. Where values differ, the older one wins, because clients of both versions know it.
 * `{ kind: "text", text: "Hi" }` and `{ type: "text", text: "Hi" }` become `{ kind: "text", text: "Hi", type: "text" }`.
 */
function union(newer: object, older: object): object;
function union(newer: unknown, older: unknown): unknown;
function union(newer: unknown, older: unknown): unknown {
  if (newer === older) return newer;
  if (Array.isArray(newer) && Array.isArray(older)) return newer.map((item, index) => union(item, older[index]));
  if (!isWireObject(newer) || !isWireObject(older)) return older ?? newer;
  const names = new Set([...Object.keys(newer), ...Object.keys(older)]);
  return Object.fromEntries(Array.from(names, (name) => [name, union(own(newer, name), own(older, name))]));
}

/** Inherited members such as `toString` do not count. */
function own(object: WireObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
