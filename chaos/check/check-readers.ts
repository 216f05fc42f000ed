import type { Entry } from "../journal.ts";
import type { TaskTruth } from "../truth.ts";
import { compareStories } from "./compare-stories.ts";
import type { Discrepancy } from "./discrepancy.ts";

/** One reader's story. */
export interface ReaderStory {
  readonly task: string;
  readonly reader: string;
  /** The event after which it began to read. */
  readonly start: number;
  /** Numbered where the reader was given numbers: `7 status working`. */
  readonly lines: readonly string[];
  readonly isNumbered: boolean;
  readonly isWhole: boolean;
}

/** Every reader has every event since it began, once, in order, and as it is in the log. */
export function checkReader(story: ReaderStory, { log }: Pick<TaskTruth, "log">): Discrepancy[] {
  const { task, reader, start, lines, isNumbered, isWhole } = story;
  const all = isNumbered ? log.map((line, index) => `${index + 1} ${line}`) : log;
  return compareStories({ task, who: reader, expected: all.slice(start), seen: lines, isPartial: !isWhole });
}

/** Puts the stories together from what a client wrote down. */
export function readerStories(entries: readonly Entry[]): ReaderStory[] {
  const stories = new Map<string, Mutable<ReaderStory> & { lines: string[] }>();
  const storyOf = (reader: string) => {
    const known = stories.get(reader);
    if (known !== undefined) return known;
    // Readers are named after their tasks.
    const task = reader.split(" ", 1)[0] ?? "";
    const story = { task, reader, start: 0, lines: [], isNumbered: true, isWhole: false };
    stories.set(reader, story);
    return story;
  };
  for (const entry of entries) {
    if (entry.kind === "snapshot") {
      const story = storyOf(entry.reader);
      // In the middle it stands for events that are then missed.
      if (story.lines.length === 0) story.start = entry.seq;
    } else if (entry.kind === "frame") storyOf(entry.reader).lines.push(`${entry.seq} ${entry.line}`);
    else if (entry.kind === "told") {
      const story = storyOf(entry.reader);
      story.isNumbered = false;
      story.lines.push(entry.line);
    } else if (entry.kind === "read-to-end") storyOf(entry.reader).isWhole = true;
  }
  return [...stories.values()];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
