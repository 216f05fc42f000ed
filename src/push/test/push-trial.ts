import { randomUUID } from "node:crypto";
import type { SubmittedWebhook } from "../../engine/api.ts";
import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { PushConfig, PushPolicy } from "../../protocol/operation.ts";
import { readEvent, readTask } from "../../protocol/serial.ts";
import type { WebhookRecord } from "../../store/contract.ts";
import { EngineHarness, type HarnessOptions, scripted, turns } from "../../testing/engine-harness.ts";
import type { PushCodec } from "../../wire/codec.ts";
import type { DeliveryRecord, PushCaller } from "../contract.ts";
import type { NotificationClaims } from "../delivery.ts";
import type { DispatcherOptions } from "../dispatcher.ts";
import type { HttpSender } from "../http-sender.ts";
import { createPush, DEFAULT_PUSH_SETTINGS, type Push, type PushSettings } from "../push.ts";

/** A request as sent. It stays unanswered until the test answers it. */
export interface Posted {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  answer(response: Response | number): void;
  fail(error: Error): void;
  readonly isAborted: () => boolean;
}

export interface TrialOptions {
  readonly settings?: Partial<PushSettings>;
  /** Default: `event`. */
  readonly carries?: PushCodec["carries"];
  readonly concurrency?: DispatcherOptions["concurrency"];
  readonly retention?: HarnessOptions["retention"];
  readonly wrapStore?: HarnessOptions["wrapStore"];
  /** Whether the lease of the node is renewed. Default: always. */
  readonly lease?: DispatcherOptions["lease"];
  /** Answers requests immediately; `undefined` leaves the answer to the test. */
  readonly answer?: (posted: Posted) => Response | number | undefined;
}

export type Command = { readonly kind: "chunk" | "status"; readonly text: string } | { readonly kind: "end" };

/** Webhooks set in this dialect receive whole tasks, whatever `carries` says. */
export const TASK_DIALECT = "test/task";

const POLICY: PushPolicy = { single: false, missing: "error", afterFailure: "suspended" };

/** Push notifications over an in-memory engine and a fake clock. No request leaves the process: tests answer them. */
export class PushTrial implements AsyncDisposable {
  readonly harness: EngineHarness;
  readonly push: Push;
  readonly posts: Posted[] = [];
  readonly records: DeliveryRecord[] = [];
  readonly signed: NotificationClaims[] = [];
  readonly node: string = randomUUID();
  readonly #commands: Map<string, CommandQueue>;
  readonly #options: TrialOptions;
  #isDead = false;

  constructor(harness: EngineHarness, commands: Map<string, CommandQueue>, options: TrialOptions) {
    this.harness = harness;
    this.#commands = commands;
    this.#options = options;
    const { carries = "event", settings, concurrency = {}, lease } = options;
    this.push = createPush({
      ...(lease !== undefined && { lease }),
      store: harness.store,
      bus: harness.bus,
      clock: harness.clock,
      logger: { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} },
      node: this.node,
      agents: harness.agentIds,
      secret: new Uint8Array(32).fill(3),
      sender: this.#sender(),
      signer: {
        sign: async (claims) => {
          this.signed.push(claims);
          return `signed:${claims.jti}`;
        },
      },
      codecOf: (dialect) => (dialect === "unknown" ? undefined : codec(dialect === TASK_DIALECT ? "task" : carries)),
      settings: { ...DEFAULT_PUSH_SETTINGS, ...settings },
      concurrency,
      hooks: { on: { delivery: (record) => void this.records.push(record) } },
      random: () => 0,
      onFatal: (error) => void harness.fatal.push(error),
    });
  }

  static async open(options: TrialOptions = {}): Promise<PushTrial> {
    const commands = new Map<string, CommandQueue>();
    const agent = scripted(async (task) => {
      const artifact = task.artifact("out");
      const queue = queueOf(commands, task.text);
      for (;;) {
        const command = await queue.next();
        if (command.kind === "end") return;
        if (command.kind === "chunk") await artifact.write(command.text);
        else await task.status(command.text);
        await task.flush();
      }
    });
    const { retention, wrapStore } = options;
    const harness = await EngineHarness.open({
      agents: agent,
      ...(retention !== undefined && { retention }),
      ...(wrapStore !== undefined && { wrapStore }),
    });
    const trial = new PushTrial(harness, commands, options);
    await trial.start();
    return trial;
  }

  async start(): Promise<void> {
    await this.harness.shared.heartbeat(this.node, 60_000);
    this.push.start();
  }

  /** Another process over the same store. */
  async join(): Promise<PushTrial> {
    const harness = await this.harness.join();
    const other = new PushTrial(harness, this.#commands, this.#options);
    await other.start();
    return other;
  }

  /** Kills the process and ends its leases. */
  async kill(): Promise<void> {
    this.#isDead = true;
    await this.harness.kill();
    await this.harness.shared.leave(this.node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { answer } of this.posts) answer(200);
    // A killed process gets no more answers from the store.
    if (!this.#isDead) await this.harness.pumped(this.push.drain(0));
    for (const queue of this.#commands.values()) queue.push({ kind: "end" });
    await this.harness[Symbol.asyncDispose]();
  }

  caller(policy: Partial<PushPolicy> = {}, owner?: string): PushCaller {
    const scope = this.harness.scope(owner === undefined ? {} : { owner });
    return { scope, dialect: "test", policy: { ...POLICY, ...policy } };
  }

  /** A configuration that is sent with a message. */
  submitted(config: PushConfig): SubmittedWebhook {
    const { configs } = this.push;
    const caller = this.caller();
    const draft = configs.prepare(caller, config, "config");
    const isSame = (stored: WebhookRecord) => configs.isSame(draft, stored, caller.scope);
    return { draft, maxPerTask: configs.maxPerTask, only: false, isSame };
  }

  /** Starts a task that executes the commands pushed under its name. Its first event is committed. */
  async task(name: string = randomUUID(), config?: PushConfig): Promise<TrialTask> {
    const { configs } = this.push;
    const webhook = config === undefined ? undefined : this.submitted(config);
    const ticket = await this.harness.start(name, { ...(webhook !== undefined && { webhook }) });
    if (webhook !== undefined) configs.stored(ticket.key, webhook.draft);
    await this.harness.untilState(ticket.taskId, "working");
    const queue = queueOf(this.#commands, name);
    const execute = async (command: Command): Promise<void> => {
      const seqOf = async () => (await this.harness.shared.positions([ticket.key]))[0]?.seq ?? 0;
      const before = await seqOf();
      queue.push(command);
      await this.harness.until(async () => (await seqOf()) > before, "the next event");
    };
    return {
      id: ticket.taskId,
      push: (command) => queue.push(command),
      chunk: (text) => execute({ kind: "chunk", text }),
      status: (text) => execute({ kind: "status", text }),
      end: async () => {
        queue.push({ kind: "end" });
        await this.harness.untilState(ticket.taskId, "completed");
      },
    };
  }

  /** Waits until `count` requests were sent, and returns the last of them. */
  async posted(count: number): Promise<Posted> {
    await this.harness.until(() => this.posts.length >= count, `request ${count}`);
    const post = this.posts[count - 1];
    if (post === undefined) throw new Error("Request not found.");
    return post;
  }

  /** True if no request is sent during 30 turns of the event loop. */
  async isQuiet(): Promise<boolean> {
    const before = this.posts.length;
    await turns(30);
    return this.posts.length === before;
  }

  /** The bodies of all requests. */
  bodies(): string[] {
    return this.posts.map(({ body }) => body);
  }

  outcomes(): string[] {
    return this.records.map(({ outcome }) => outcome);
  }

  #sender(): HttpSender {
    return {
      check: (url) => new URL(url),
      fetch: (url, init = {}) => {
        const result: Deferred<Response> = createDeferred<Response>({ handled: true });
        const { signal } = init;
        const posted: Posted = {
          url: String(url instanceof Request ? url.url : url),
          headers: new Headers(init.headers),
          body: typeof init.body === "string" ? init.body : "",
          answer: (response) =>
            result.resolve(typeof response === "number" ? new Response(null, { status: response }) : response),
          fail: (error) => result.reject(error),
          isAborted: () => signal?.aborted === true,
        };
        signal?.addEventListener("abort", () => result.reject(signal.reason));
        this.posts.push(posted);
        const answer = this.#options.answer?.(posted);
        if (answer !== undefined) posted.answer(answer);
        return result.promise;
      },
    };
  }
}

export interface TrialTask {
  readonly id: TaskId;
  /** Queues a command for the agent. */
  push(command: Command): void;
  /** Writes a chunk, a status; resolves once it is committed. */
  chunk(text: string): Promise<void>;
  status(text: string): Promise<void>;
  end(): Promise<void>;
}

/** Encodes events and tasks as short text: `status:working`, `chunk:text`, `task@seq:state:text text`. */
function codec(carries: PushCodec["carries"]): PushCodec {
  return {
    carries,
    mediaType: "application/test",
    headers: { "A2A-Test": "yes" },
    tokenAsBearer: false,
    encodeEvent({ body }) {
      const event = readEvent(body);
      if (event.kind === "status") return `status:${event.status.state}`;
      return `chunk:${event.artifact.parts.map(({ text = "" }) => text).join("")}`;
    },
    encodeTask(stored, { kind }) {
      const { status, artifacts = [] } = readTask(stored);
      const texts = artifacts.flatMap(({ parts }) => parts.map(({ text = "" }) => text));
      return `task@${stored.seq}:${kind}:${status.state}:${texts.join("")}`;
    },
  };
}

function queueOf(commands: Map<string, CommandQueue>, name: string): CommandQueue {
  const known = commands.get(name);
  if (known !== undefined) return known;
  const queue = new CommandQueue();
  commands.set(name, queue);
  return queue;
}

class CommandQueue {
  readonly #commands: Command[] = [];
  #waiting: Deferred<Command> | undefined;

  push(command: Command): void {
    if (this.#waiting === undefined) this.#commands.push(command);
    else this.#waiting.resolve(command);
    this.#waiting = undefined;
  }

  async next(): Promise<Command> {
    const command = this.#commands.shift();
    if (command !== undefined) return command;
    this.#waiting = createDeferred<Command>();
    return this.#waiting.promise;
  }
}
