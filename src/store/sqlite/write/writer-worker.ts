import { parentPort, workerData } from "node:worker_threads";
import { SchemaTooNew } from "../connection.ts";
import { packOutcomes } from "../row/packed-outcomes.ts";
import { unpack } from "../row/unpack.ts";
import { failureOf } from "../sqlite-error.ts";
import { WriteFailed, Writer } from "./writer.ts";
import type { WriterData, WriterNotice, WriterReply, WriterRequest } from "./writer-messages.ts";

// The writer thread: answers requests in order and compacts the hot log in between.

/** With this many tasks to compact, compaction starts immediately; with fewer, after 25 ms. */
const COMPACT_TASKS = 64;
const COMPACT_DELAY_MS = 25;

const port = parentPort;
if (port === null) throw new Error("This module is the main module of a worker thread.");

function send(message: WriterReply | WriterNotice): void {
  port?.postMessage(message);
}

function serve(writer: Writer, request: WriterRequest): WriterReply {
  switch (request.kind) {
    case "commit": {
      if (request.fault === "death") process.exit(1);
      const { outcomes, ...rest } = writer.commit(unpack(request.commands), request.living, request.fault);
      return { kind: "committed", outcomes: packOutcomes(outcomes), ...rest };
    }
    case "claim-due":
      return { kind: "claimed-due", due: writer.claimDue(request.claim) };
    case "claim-webhooks":
      return { kind: "claimed-webhooks", webhooks: writer.claimWebhooks(request.claim) };
    case "leave":
      writer.leave(request.node);
      return { kind: "done", count: 0 };
    case "sweep":
      compactAll(writer);
      return { kind: "done", count: writer.sweep(request.now) };
    case "totals":
      return { kind: "totals", totals: writer.totals() };
    case "probe":
      writer.probe();
      return { kind: "done", count: 0 };
    case "close":
      try {
        compactAll(writer);
      } finally {
        writer.close();
      }
      return { kind: "done", count: 0 };
  }
}

function compactAll(writer: Writer): void {
  while (writer.pending > 0) compact(writer);
}

function compact(writer: Writer): void {
  const tasks = writer.compact();
  if (tasks.length > 0) send({ kind: "moved", tasks });
}

function start(writer: Writer): void {
  let timer: NodeJS.Timeout | undefined;
  const compactLater = (delay: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      try {
        compact(writer);
      } catch (thrown) {
        // Rolled back: the next commit tries again. A broken writer reports it to the next request.
        if (!(thrown instanceof WriteFailed)) throw thrown;
        return;
      }
      if (writer.pending > 0) compactLater(0);
    }, delay);
  };
  port?.on("message", (request: WriterRequest) => {
    try {
      send(serve(writer, request));
    } catch (thrown) {
      if (!(thrown instanceof WriteFailed)) throw thrown;
      send({ kind: "failed", failure: thrown.failure });
    }
    if (request.kind === "close") {
      clearTimeout(timer);
      port?.close();
      return;
    }
    const tasks = writer.takeGone();
    if (tasks.length > 0) send({ kind: "moved", tasks });
    if (writer.pending >= COMPACT_TASKS && timer !== undefined) {
      clearTimeout(timer);
      timer = undefined;
    }
    if (writer.pending > 0) compactLater(writer.pending >= COMPACT_TASKS ? 0 : COMPACT_DELAY_MS);
  });
  send({ kind: "ready" });
  if (writer.pending > 0) compactLater(COMPACT_DELAY_MS);
}

const data = workerData as WriterData; // Safe cast: WriterThread sets it.
try {
  start(new Writer(data));
} catch (thrown) {
  const failure =
    thrown instanceof SchemaTooNew || thrown instanceof WriteFailed ? thrown.failure : failureOf(thrown, data.file);
  send({ kind: "unusable", failure });
  port.close();
}
