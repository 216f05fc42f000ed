import { isDeepStrictEqual } from "node:util";
import type { TaskPicture } from "../event-line.ts";
import type { Entry } from "../journal.ts";
import { picturesOf, type TaskTruth } from "../truth.ts";
import { compareStories } from "./compare-stories.ts";
import type { Discrepancy } from "./discrepancy.ts";

/** The events that one reader received. */
export interface ReaderStory {
  readonly task: string;
  readonly reader: string;
  /** The event after which the reader started. */
  readonly start: number;
  /** Numbered if the reader received event numbers: `7 status working`. */
  readonly lines: readonly string[];
  readonly isNumbered: boolean;
  readonly isWhole: boolean;
  /** The final task, if the reader has one. */
  readonly picture?: TaskPicture | undefined;
}

/** Checks that a reader received every event since its start, once, in order, and as stored in the log. */
export function checkReader(story: ReaderStory, { log, events }: Pick<TaskTruth, "log" | "events">): Discrepancy[] {
  const { task, reader, start, lines, isNumbered, isWhole, picture } = story;
  const all = isNumbered ? log.map((line, index) => `${index + 1} ${line}`) : log;
  const expected = all.slice(start);
  const found = compareStories({ task, who: reader, expected, seen: lines, isPartial: !isWhole });
  const [first] = found;
  if (first === undefined || picture === undefined || !isLast(picture, events)) return found;
  const what = `has the final task, but received events merged or in another order (${found.map(({ kind }) => kind).join(", ")})`;
  return [{ ...first, kind: "merged", what }];
}

function isLast(picture: TaskPicture, events: TaskTruth["events"]): boolean {
  return isDeepStrictEqual(picture, [...picturesOf(events)].at(-1));
}

/** Collects the events of each reader from the journal of a client. */
export function readerStories(entries: readonly Entry[]): ReaderStory[] {
  const stories = new Map<string, Growing>();
  const storyOf = (reader: string): Growing => {
    const known = stories.get(reader);
    if (known !== undefined) return known;
    // A reader's name starts with the name of its task.
    const task = reader.split(" ", 1)[0] ?? "";
    const story: Growing = { task, reader, start: 0, lines: [], isNumbered: true, isWhole: false };
    stories.set(reader, story);
    return story;
  };
  for (const entry of entries) {
    if (entry.kind === "snapshot") {
      const story = storyOf(entry.reader);
      // In the middle of a stream, a whole task replaces events that the reader has missed.
      if (story.lines.length === 0) story.start = entry.seq;
    } else if (entry.kind === "frame") storyOf(entry.reader).lines.push(`${entry.seq} ${entry.line}`);
    else if (entry.kind === "event") {
      const story = storyOf(entry.reader);
      story.isNumbered = false;
      story.lines.push(entry.line);
    } else if (entry.kind === "read-to-end") {
      const story = storyOf(entry.reader);
      story.isWhole = true;
      story.picture = entry.picture;
    }
  }
  return [...stories.values()];
}

type Growing = { -readonly [Key in keyof ReaderStory]: ReaderStory[Key] } & { lines: string[] };
