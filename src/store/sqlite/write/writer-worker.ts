import { parentPort, workerData } from "node:worker_threads";
import { SchemaTooNew } from "../connection.ts";
import { packOutcomes } from "../row/packed-outcomes.ts";
import { unpack } from "../row/unpack.ts";
import { failureOf } from "../sqlite-error.ts";
import { WriteFailed, Writer } from "./writer.ts";
import type { WriterData, WriterNotice, WriterReply, WriterRequest } from "./writer-messages.ts";

/** The thread that writes: answers each request in turn, and tidies up in between. */

/** Enough tasks to move are moved at once; fewer wait a moment for company. */
const ENOUGH = 64;
const MOMENT = 25;

const port = parentPort;
if (port === null) throw new Error("This module is the main module of a worker thread.");

function send(message: WriterReply | WriterNotice): void {
  port?.postMessage(message);
}

function serve(writer: Writer, request: WriterRequest): WriterReply {
  switch (request.kind) {
    case "commit": {
      if (request.fault === "death") process.exit(1);
      const { outcomes, rows } = writer.commit(unpack(request.commands), request.living, request.fault);
      return { kind: "committed", outcomes: packOutcomes(outcomes), rows };
    }
    case "leave":
      writer.leave(request.node);
      return { kind: "done", count: 0 };
    case "sweep":
      tidyAll(writer);
      return { kind: "done", count: writer.sweep(request.now) };
    case "probe":
      writer.probe();
      return { kind: "done", count: 0 };
    case "close":
      try {
        tidyAll(writer);
      } finally {
        writer.close();
      }
      return { kind: "done", count: 0 };
  }
}

function tidyAll(writer: Writer): void {
  while (writer.pending > 0) tidy(writer);
}

function tidy(writer: Writer): void {
  const tasks = writer.compact();
  if (tasks.length > 0) send({ kind: "moved", tasks });
}

function start(writer: Writer): void {
  let timer: NodeJS.Timeout | undefined;
  const tidyLater = (delay: number): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      try {
        tidy(writer);
      } catch (thrown) {
        // Rolled back: it stays to be done, and the next commit will try again. A broken writer says so to the next request.
        if (!(thrown instanceof WriteFailed)) throw thrown;
        return;
      }
      if (writer.pending > 0) tidyLater(0);
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
    if (writer.pending >= ENOUGH && timer !== undefined) {
      clearTimeout(timer);
      timer = undefined;
    }
    if (writer.pending > 0) tidyLater(writer.pending >= ENOUGH ? 0 : MOMENT);
  });
  send({ kind: "ready" });
  if (writer.pending > 0) tidyLater(MOMENT);
}

const data = workerData as WriterData; // Set by the only place that starts this thread.
try {
  start(new Writer(data));
} catch (thrown) {
  const failure =
    thrown instanceof SchemaTooNew || thrown instanceof WriteFailed ? thrown.failure : failureOf(thrown, data.file);
  send({ kind: "unusable", failure });
  port.close();
}
