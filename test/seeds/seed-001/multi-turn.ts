import type { ServerOptions } from "palaver";
import { expect, it } from "vitest";
import { at, post } from "../exchange.ts";
import { agentMessage, type Ids, idsOf, textPart } from "../kinds.ts";
import { ID, TIME } from "../matchers.ts";
import { resultOf, rpcRequest } from "../rpc.ts";
import { serveScript, type TestServer } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

const WISH = "I'd like to book a flight.";
const QUESTION = "Where would you like to fly to, and from where?";
const ANSWER = "From New York (JFK) to London (LHR) around October 10th, returning October 17th.";
const FOUND = "Okay, I've found a flight for you. Confirmation XYZ123.";
const ITINERARY = { confirmationId: "XYZ123", from: "JFK", to: "LHR", departure: "2024-10-10T18:00:00Z" };

const WISH_ID = "c53ba666-3f97-433c-a87b-6084276babe2";
const ANSWER_ID = "0db1d6c4-3976-40ed-b9b8-0043ea7a03d3";

const serveBooking = (options: ServerOptions): Promise<TestServer> =>
  serveScript(
    async (task) => {
      const answer = await task.ask(QUESTION);
      if (answer !== ANSWER) task.reject("Not to there.");
      await task.artifact("FlightItinerary.json").end(ITINERARY);
      await task.status(FOUND);
    },
    {},
    options,
  );

/** The first request, with the message id next to the message. */
async function wish({ url }: TestServer): Promise<unknown> {
  const params = { message: { role: "user", parts: [textPart(WISH)] }, messageId: WISH_ID };
  return resultOf(await post(url, rpcRequest("req-003", "message/send", params)), "req-003");
}

/** The second request, with the task id. */
async function answer({ url }: TestServer, ids: Ids): Promise<unknown> {
  const message = { role: "user", parts: [textPart(ANSWER)], ...ids, messageId: ANSWER_ID };
  const request = rpcRequest("req-004", "message/send", { message, configuration: { blocking: true } });
  return resultOf(await post(url, request), "req-004");
}

/** A caller's message in the history has the ids of the task. */
const said = (ids: Ids, messageId: string, text: string): object => ({
  kind: "message",
  role: "user",
  parts: [textPart(text)],
  messageId,
  ...ids,
});

/** The question, with the request id that answers to several questions use. */
const INPUT_REQUEST = { kind: "input-request", prompt: QUESTION, requestId: ID };
const asked = (ids: Ids): object => agentMessage(ids, QUESTION, { metadata: { inputRequest: INPUT_REQUEST } });

it(
  seed.example("9.4. Multi-Turn Interaction › 1 request", "an id next to the message is used as the message id"),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveBooking(options);
      const task = await wish(testServer);
      expect(at(task, "history.0")).toEqual(said(idsOf(task), WISH_ID, WISH));
    }
  },
);

it(
  seed.example(
    "9.4. Multi-Turn Interaction › 2 input required",
    "the task waits, and its status contains the question",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveBooking(options);
      const task = await wish(testServer);
      const ids = idsOf(task);
      expect(task).toEqual({
        kind: "task",
        id: ids.taskId,
        contextId: ids.contextId,
        status: {
          state: "input-required",
          // In 0.3 the question's data is also where some 0.3 clients expect it.
          message: { ...asked(ids), ...(options.assumeVersion === undefined && { inputRequest: INPUT_REQUEST }) },
          timestamp: TIME,
        },
        artifacts: [],
        history: [said(ids, WISH_ID, WISH), asked(ids)],
      });
    }
  },
);

it(
  seed.example(
    "9.4. Multi-Turn Interaction › 3 the input",
    "a message with the task id continues the task, and waits because it requests that",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveBooking(options);
      const ids = idsOf(await wish(testServer));
      const task = await answer(testServer, ids);
      expect(idsOf(task)).toEqual(ids);
      expect(at(task, "status.state")).toBe("completed");
    }
  },
);

it(
  seed.example(
    "9.4. Multi-Turn Interaction › 4 completed",
    "the itinerary is an artifact; the agent's last message is the end of the history",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveBooking(options);
      const ids = idsOf(await wish(testServer));
      expect(await answer(testServer, ids)).toEqual({
        kind: "task",
        id: ids.taskId,
        contextId: ids.contextId,
        status: { state: "completed", timestamp: TIME },
        artifacts: [{ artifactId: ID, name: "FlightItinerary.json", parts: [{ kind: "data", data: ITINERARY }] }],
        history: [said(ids, WISH_ID, WISH), asked(ids), said(ids, ANSWER_ID, ANSWER), agentMessage(ids, FOUND)],
      });
    }
  },
);

it(
  seed.example(
    "4.5. In-Task Authentication",
    "a task that needs authorisation says so and why, and continues with the next message",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      const need = [{ text: "Log in to the airline" }, { data: { schemes: ["Bearer"], scope: "booking" } }];
      await using testServer = await serveScript(
        async (task) => {
          const message = await task.requireAuth(need);
          return `Booked with ${String(message?.parts[0]?.text)}`;
        },
        {},
        options,
      );
      const waiting = await wish(testServer);
      const ids = idsOf(waiting);
      expect(at(waiting, "status")).toEqual({
        state: "auth-required",
        message: agentMessage(ids, "", {
          parts: [textPart("Log in to the airline"), { kind: "data", data: { schemes: ["Bearer"], scope: "booking" } }],
        }),
        timestamp: TIME,
      });
      const task = await answer(testServer, ids);
      expect(at(task, "status.state")).toBe("completed");
      expect(at(task, "artifacts.0.parts.0")).toEqual(textPart(`Booked with ${ANSWER}`));
    }
  },
);
