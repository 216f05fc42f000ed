import { setTimeout as sleep } from "node:timers/promises";
import type { NatsAddress, NatsConnect, NatsConnection } from "./driver.ts";
import type { Publication } from "./subjects.ts";

export interface SessionOptions {
  readonly connect: NatsConnect;
  readonly address: NatsAddress;
  readonly onMessage: (payload: string) => void;
  /** The connection works: for the first time, or again. */
  readonly onConnected: () => void;
  /** The connection broke, or could not be opened, or the server refused something. Called once per interruption. */
  readonly onInterrupted: (error: unknown) => void;
}

const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5000;
/** Milliseconds for the last messages when the session is closed. */
const LAST_MESSAGES = 1000;

/** A connection to NATS servers that is opened again whenever it breaks, with its subscriptions, until it is closed. */
export class Session {
  readonly #options: SessionOptions;
  readonly #closed = new AbortController();
  readonly #running: Promise<void>;
  /** How often each subject is wanted. */
  readonly #wanted = new Map<string, number>();
  readonly #subscriptions = new Map<string, { unsubscribe(): void }>();
  #connection: NatsConnection | undefined;
  #isConnected = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Messages that the broken connection cannot send are lost: everything is read when it works again. */
  publish(publications: readonly Publication[]): void {
    for (const { subject, payload } of publications) this.#connection?.publish(subject, payload);
  }

  /** Receives the messages of a subject. Returns a function that ends this. */
  subscribe(subject: string): () => void {
    const times = this.#wanted.get(subject) ?? 0;
    this.#wanted.set(subject, times + 1);
    if (times === 0) this.#open(subject);
    let isWanted = true;
    return () => {
      if (!isWanted) return;
      isWanted = false;
      const others = (this.#wanted.get(subject) ?? 0) - 1;
      if (others > 0) {
        this.#wanted.set(subject, others);
        return;
      }
      this.#wanted.delete(subject);
      this.#subscriptions.get(subject)?.unsubscribe();
      this.#subscriptions.delete(subject);
    };
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#isConnected)
      await Promise.race([this.#connection?.flush(), sleep(LAST_MESSAGES, undefined, { ref: false })]);
    await this.#connection?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    let pause = FIRST_PAUSE;
    let isReported = false;
    while (!this.#closed.signal.aborted) {
      try {
        const connection = await this.#options.connect(this.#options.address);
        isReported = false;
        pause = FIRST_PAUSE;
        await this.#use(connection);
      } catch (error) {
        if (!isReported && !this.#closed.signal.aborted) this.#options.onInterrupted(error);
        isReported = true;
      }
      await sleep(pause, undefined, { ref: false, signal: this.#closed.signal }).catch(() => {}); // Ends early when it is closed.
      pause = Math.min(pause * 2, LONGEST_PAUSE);
    }
  }

  /** Until the connection is closed. The driver connects again by itself, with all subscriptions. */
  async #use(connection: NatsConnection): Promise<void> {
    if (this.#closed.signal.aborted) return connection.close();
    this.#connection = connection;
    try {
      for (const subject of this.#wanted.keys()) this.#open(subject);
      this.#connected();
      for await (const { type, error } of connection.status()) {
        if (type === "disconnect") this.#interrupted(new Error("The connection to NATS broke."));
        else if (type === "reconnect") this.#connected();
        else if (type === "error") this.#options.onInterrupted(error);
      }
    } finally {
      this.#isConnected = false;
      this.#connection = undefined;
      this.#subscriptions.clear();
    }
  }

  #open(subject: string): void {
    const subscription = this.#connection?.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) this.#options.onMessage(message.string());
      },
    });
    if (subscription !== undefined) this.#subscriptions.set(subject, subscription);
  }

  #connected(): void {
    this.#isConnected = true;
    this.#options.onConnected();
  }

  #interrupted(error: Error): void {
    const wasConnected = this.#isConnected;
    this.#isConnected = false;
    if (wasConnected && !this.#closed.signal.aborted) this.#options.onInterrupted(error);
  }
}
