import { describe, expect, test } from "vitest";
import type { MessageId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import { writeMessage } from "../../protocol/serial.ts";
import { openHarness, scripted } from "../../testing/engine-harness.ts";
import { readInboxMessage, withoutDetails, writeInboxMessage } from "./inbox-message.ts";

const message: Message = {
  // Safe cast: the test is the sender.
  messageId: "m-1" as MessageId,
  role: "user",
  parts: [{ text: '{"inbox":{}}' }],
  metadata: { inbox: { answers: ["metadata"] } },
};

describe("a message in the inbox", () => {
  test.each([
    [{}],
    [{ answers: [] }],
    [{ answers: ["q-1"] }],
    [{ callPath: ["a/b"] }],
    [{ callPath: ['},"messageId":"x"'], answers: ["q-1"] }],
  ])("is read as it was written, with details %j; its text without details is that of the message", (details) => {
    const body = writeInboxMessage({ message, ...details });
    expect(readInboxMessage(body)).toEqual({ message, ...details });
    expect(withoutDetails(body)).toBe(writeMessage(message));
  });

  test("of an earlier release has its call path as a member of the message", () => {
    const body = JSON.stringify({ ...JSON.parse(writeMessage(message)), callPath: ["a/b"] });
    expect(readInboxMessage(body)).toEqual({ message, callPath: ["a/b"] });
  });

  test("that is unread when its task is canceled is in the history without the details", async () => {
    await using harness = await openHarness({
      agents: scripted(
        (task) => new Promise<void>((resolve) => task.signal.addEventListener("abort", () => resolve())),
      ),
    });
    const { taskId } = await harness.start("go");
    await harness.start({ ...message, taskId });
    await harness.pumped(harness.engine.cancel(harness.scope(), taskId));
    await harness.untilState(taskId, "canceled");
    const { contextId, history = [] } = await harness.get(taskId);
    expect(history[1]).toEqual({ ...message, taskId, contextId });
  });
});
