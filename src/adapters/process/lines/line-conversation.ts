import type { TaskContext } from "../../../engine/agent/agent.ts";
import type { JsonValue } from "../../../protocol/json.ts";
import type { Message } from "../../../protocol/message.ts";
import type { Child } from "../children/child.ts";
import type { Conversation } from "../conversation.ts";
import { failureOf, processFailure } from "../process-failure.ts";
import type { ProcessSettings } from "../process-options.ts";
import { answerSchema } from "./answer-schema.ts";
import { type AnsweredQuestion, answerLine, messageLine, startLine } from "./input-line.ts";
import { createLineSplitter } from "./line-splitter.ts";
import { readOutputFile } from "./output-file.ts";
import { type ArtifactLine, type AskLine, type ProgramLine, readProgramLine } from "./program-line.ts";

export interface LineConversationOptions {
  readonly task: TaskContext;
  readonly settings: ProcessSettings;
  /** The questions that were answered before the program was started again. */
  readonly answers: readonly AnsweredQuestion[];
}

/** One JSON object per line, in both directions. Standard input stays open until the program ends. */
export function lineConversation(child: Child, options: LineConversationOptions): Conversation {
  const { task, settings, answers } = options;
  const lines = createLineSplitter(settings.maxLine);
  let restart: AskLine | undefined;
  child.write(startLine(task, answers));
  const perform = async (line: string): Promise<void> => {
    // The program said that it ends.
    if (restart !== undefined) return;
    const read = readProgramLine(line);
    if (read.kind !== "ask" || !read.restart) return performLine(read, { child, task, settings });
    restart = read;
    child.stopLater();
  };
  return {
    async output(chunk) {
      for (const line of lines.add(chunk)) await perform(line);
    },
    async end() {
      for (const line of lines.end()) await perform(line);
    },
    question: () => restart,
  };
}

interface LineHost {
  readonly child: Child;
  readonly task: TaskContext;
  readonly settings: ProcessSettings;
}

async function performLine(line: ProgramLine, host: LineHost): Promise<void> {
  const { child, task } = host;
  switch (line.kind) {
    case "status":
      return task.status(line.text);
    case "text":
      return line.text === "" ? undefined : task.write(line.text);
    case "artifact":
      return writeArtifact(line, host);
    case "usage":
      return task.usage(line.usage);
    case "log":
      return task.log[line.level](line.text);
    case "ask":
      return child.write(answerLine(await untilEnded(askCaller(task, line), host)));
    case "next":
      return child.write(messageLine(await untilEnded(nextMessage(task, line.wait), host)));
    case "fail":
      throw processFailure("process-failed", line.text);
    case "reject":
      return task.reject(line.text);
  }
}

/** Asks the caller of the task. */
export async function askCaller(task: TaskContext, line: AskLine): Promise<JsonValue> {
  const { question, name, sensitive, schema: jsonSchema } = line;
  const options = { sensitive, ...(name !== undefined && { name }) };
  if (jsonSchema === undefined) return (await task.ask(question, options)) ?? null;
  return (await task.ask(question, { ...options, schema: answerSchema(jsonSchema), jsonSchema })) ?? null;
}

function nextMessage(task: TaskContext, wait: boolean): Promise<Message | undefined> {
  return wait ? task.next() : task.next({ wait: false });
}

/** What the program waits for; or the failure of a program that ends without it. A program that was stopped because of the task waits forever. */
function untilEnded<T>(work: Promise<T>, { child, task }: LineHost): Promise<T> {
  const ended = child.ended.then((ending): Promise<never> | never => {
    if (task.signal.aborted) return new Promise(() => {});
    throw (
      failureOf(ending) ?? processFailure("process-exited", "The program ended before it got the answer it waited for.")
    );
  });
  return Promise.race([work, ended]);
}

async function writeArtifact(line: ArtifactLine, { task, settings }: LineHost): Promise<void> {
  const { content, replace, last, description } = line;
  const file = content?.kind === "file" ? await readOutputFile(content.path, settings) : undefined;
  const artifact = task.artifact(line.artifact ?? file?.name ?? "result", {
    ...(description !== undefined && { description }),
  });
  const output = content === undefined ? undefined : outputOf(content, file?.bytes);
  if (output !== undefined && replace) await artifact.replace(output);
  else if (output !== undefined) await artifact.write(output);
  // A file is one piece, unless it is part of a named artifact.
  if (last || line.artifact === undefined) await artifact.end();
}

function outputOf(content: NonNullable<ArtifactLine["content"]>, bytes: Uint8Array = new Uint8Array()) {
  if (content.kind === "text") return content.text;
  if (content.kind === "data") return [{ data: content.data }];
  const { name, path, mediaType } = content;
  const shown = name ?? path.slice(path.lastIndexOf("/") + 1);
  return { file: { bytes, name: shown, ...(mediaType !== undefined && { mediaType }) } };
}
