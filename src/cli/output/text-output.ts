import type { RemoteStreamEvent, Sent } from "../../client/api.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { AgentCard, AgentInterface } from "../../protocol/card.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import { inputSchemaOf } from "../../protocol/input-request.ts";
import { isWithoutContent } from "../../protocol/merged-parts.ts";
import type { Message, Role } from "../../protocol/message.ts";
import type { PushConfig } from "../../protocol/operation.ts";
import type { Part } from "../../protocol/part.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import { officialState } from "../../wire/official-json.ts";
import type { Sink } from "../context.ts";
import { pasteable } from "../program-name.ts";
import { typeOf } from "../session/schema-types.ts";
import { writeCard } from "./card-text.ts";
import type { Failure } from "./failure.ts";
import type { Output, OwnResult, TaskPage } from "./output.ts";
import { describeFile, joinedText } from "./part-file.ts";
import { resumeCommand } from "./resume-hint.ts";
import { TextWriter } from "./text-writer.ts";
import { toolLine } from "./tool-line.ts";

/** Where and how text is written. */
export interface TextOptions {
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly verbose: boolean;
  /** `-a REF ` for commands that the user may copy, or empty. */
  readonly agentFlags: string;
  /** How this program was started. Commands to copy start with it. */
  readonly program: string;
  /** Colours a word if standard error is a terminal. */
  readonly paint: (word: string) => string;
}

const ROLE_LABELS: Readonly<Record<Role, string>> = { user: "User", agent: "Agent" };

/** Writes fields and blocks that people can read and programs can parse, without control sequences, also on a terminal. */
export class TextOutput implements Output {
  readonly #options: TextOptions;
  readonly #writer: TextWriter;
  /** The artifact whose text block is open, while a stream is printed. */
  #artifactId: string | undefined;

  constructor(options: TextOptions) {
    this.#options = options;
    this.#writer = new TextWriter(options.stdout);
  }

  card(card: AgentCard, chosen?: AgentInterface): Promise<void> {
    return writeCard(this.#writer, card, { chosen, verbose: this.#options.verbose });
  }

  async sent(sent: Sent): Promise<void> {
    if (sent.kind === "task") return this.task(sent.task);
    return this.#message(sent.message);
  }

  async task(task: Task, { history }: { readonly history: boolean } = { history: false }): Promise<void> {
    await this.#task(task);
    if (history && !this.#options.verbose) {
      for (const { role, parts } of task.history ?? []) await this.#parts(parts, ROLE_LABELS[role]);
    }
    await this.#resume(task);
  }

  async event(event: RemoteStreamEvent): Promise<void> {
    if (event.kind === "message") return this.#message(event.message);
    if (event.kind === "task") return this.#task(event.task);
    if (event.kind === "artifact") return this.#artifactEvent(event);
    await this.#status(event.status);
    if (this.#options.verbose) await this.#data("Metadata", event.metadata);
  }

  async streamEnd(task: Task | undefined): Promise<void> {
    await this.#writer.close();
    if (task === undefined) return;
    await this.#ids(task);
    await this.#writer.field("State", officialState(task.status));
    await this.#resume(task);
  }

  async tasks({ tasks, nextPageToken, totalSize }: TaskPage, more: string | undefined): Promise<void> {
    for (const task of tasks) {
      await this.#ids(task);
      await this.#writer.field("State", officialState(task.status));
      if (task.status.timestamp !== undefined) await this.#writer.field("Updated", task.status.timestamp);
      if (this.#options.verbose) await this.#contents(task);
      await this.#options.stdout.write("\n");
    }
    await this.#writer.field("Total", String(totalSize));
    if (nextPageToken !== "") await this.#writer.field("Next page", nextPageToken);
    if (more !== undefined) await this.#writer.field("Resume", pasteable(more, this.#options.program));
  }

  async pushConfig(taskId: string, config: PushConfig): Promise<void> {
    await this.#writer.field("Task", taskId);
    if (config.id !== undefined) await this.#writer.field("Config", config.id);
    await this.#writer.field("URL", config.url);
    // Secrets are shown only in JSON output.
    if (config.token !== undefined) await this.#writer.field("Token", "set");
    if (config.authentication !== undefined) {
      await this.#writer.field("Authentication", config.authentication.schemes.join(", "));
    }
  }

  async pushConfigs(taskId: string, configs: readonly PushConfig[]): Promise<void> {
    for (const config of configs) {
      await this.pushConfig(taskId, config);
      await this.#options.stdout.write("\n");
    }
    await this.#writer.field("Total", String(configs.length));
  }

  async own({ fields }: OwnResult): Promise<void> {
    for (const [label, value] of fields) await this.#writer.field(label, value);
    await this.#writer.close();
  }

  async failure({ code, message, hint }: Failure): Promise<void> {
    await this.#writer.close();
    const errors = new TextWriter(this.#options.stderr);
    await errors.field(this.#options.paint("Error"), message);
    await errors.field("Code", code);
    if (hint !== null) await errors.field("Hint", hint);
  }

  async #task(task: Task): Promise<void> {
    await this.#ids(task);
    await this.#status(task.status);
    await this.#contents(task);
  }

  async #ids({ id, contextId }: Task): Promise<void> {
    await this.#writer.field("Task", id);
    await this.#writer.field("Context", contextId);
  }

  async #status(status: TaskStatus): Promise<void> {
    const { message, timestamp } = status;
    await this.#writer.field("State", officialState(status));
    if (this.#options.verbose && timestamp !== undefined) await this.#writer.field("Updated", timestamp);
    if (message !== undefined) await this.#parts(message.parts, "Message");
  }

  async #contents({ artifacts = [], history = [], metadata }: Task): Promise<void> {
    for (const artifact of artifacts) await this.#artifact(artifact);
    if (!this.#options.verbose) return;
    for (const message of history) await this.#historic(message);
    await this.#data("Metadata", metadata);
  }

  async #historic({ role, messageId, parts, metadata }: Message): Promise<void> {
    await this.#writer.field("History", `${role} ${messageId}`);
    await this.#parts(parts, ROLE_LABELS[role]);
    await this.#data("Metadata", metadata);
  }

  async #message({ contextId, parts, messageId, metadata }: Message): Promise<void> {
    if (contextId !== undefined) await this.#writer.field("Context", contextId);
    if (this.#options.verbose) await this.#writer.field("Message ID", messageId);
    await this.#parts(parts, "Message");
    if (this.#options.verbose) await this.#data("Metadata", metadata);
  }

  async #artifact(artifact: Artifact): Promise<void> {
    await this.#artifactTitle(artifact);
    // Streaming splits one text into several parts. Join them, except with `--verbose`.
    await this.#parts(this.#options.verbose ? artifact.parts : joinedText(artifact.parts), "Text");
    if (this.#options.verbose) await this.#data("Metadata", artifact.metadata);
  }

  async #artifactTitle({ artifactId, name, description }: Artifact): Promise<void> {
    await this.#writer.field(
      "Artifact",
      name === undefined || name === artifactId ? artifactId : `${name} (${artifactId})`,
    );
    if (this.#options.verbose && description !== undefined) await this.#writer.field("Description", description);
  }

  /** Appended text continues the open block of its artifact, unless other output closed that block. */
  async #artifactEvent({ artifact, append, lastChunk }: ArtifactEvent): Promise<void> {
    const { artifactId } = artifact;
    const isOpen = append && this.#artifactId === artifactId;
    // A chunk without content, for example one that only closes the artifact, prints no line.
    if (append && isWithoutContent(artifact.parts)) {
      if (isOpen && lastChunk) await this.#closeArtifact();
      return;
    }
    if (!isOpen) await this.#artifactTitle(artifact);
    this.#artifactId = artifactId;
    for (const part of artifact.parts) {
      if (part.text === undefined) await this.#part(part, "Text");
      else await this.#writer.grow({ key: `artifact ${artifactId}`, label: "Text" }, part.text);
    }
    if (lastChunk) await this.#closeArtifact();
  }

  async #closeArtifact(): Promise<void> {
    await this.#writer.close();
    this.#artifactId = undefined;
  }

  async #parts(parts: readonly Part[], label: string): Promise<void> {
    for (const part of parts) await this.#part(part, label);
  }

  async #part(part: Part, label: string): Promise<void> {
    const { verbose } = this.#options;
    if (verbose && part.raw === undefined && part.url === undefined && part.mediaType !== undefined) {
      await this.#writer.field("Media type", part.mediaType);
    }
    const tool = toolLine(part, verbose);
    const answer = inputSchemaOf(part);
    if (part.text !== undefined) await this.#writer.block(label, part.text);
    else if (tool !== undefined) await this.#writer.field(tool.label, tool.text);
    else if (answer !== undefined && !verbose)
      await this.#writer.field("Answer with", typeOf(answer.schema, answer.schema));
    else if (part.data !== undefined) await this.#writer.block("Data", JSON.stringify(part.data, null, 2));
    else await this.#writer.field("File", describeFile(part));
    if (verbose) await this.#data("Metadata", part.metadata);
  }

  async #data(label: string, value: object | undefined): Promise<void> {
    if (value !== undefined) await this.#writer.block(label, JSON.stringify(value, null, 2));
  }

  async #resume(task: Task): Promise<void> {
    const { agentFlags, program } = this.#options;
    await this.#writer.field("Resume", pasteable(resumeCommand(task, agentFlags), program));
  }
}
