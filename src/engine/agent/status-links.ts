import type { TaskId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { StatusLinks } from "./agent.ts";

/** The ids of a status that names other tasks; `undefined` if the argument is plain metadata. Throws a `TypeError` if they are no texts. */
export function linkedTasks(
  options: JsonObject | StatusLinks | undefined,
): { readonly metadata: JsonObject; readonly referenceTaskIds: readonly TaskId[] } | undefined {
  if (options === undefined || !("referenceTaskIds" in options)) return undefined;
  const ids: unknown = options.referenceTaskIds;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string" && id !== ""))
    throw new TypeError("status(): referenceTaskIds must be a list of task ids.");
  const { metadata, ...others } = options;
  // Safe casts: `StatusLinks` has metadata here; the ids are those of other tasks, whoever made them. They stay in the metadata of the event, too:
  // clients that do not read messages find them there.
  const kept = { ...(others as JsonObject), ...(metadata as JsonObject | undefined) };
  return { metadata: kept, referenceTaskIds: ids as readonly TaskId[] };
}
