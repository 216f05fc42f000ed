import { expect } from "vitest";
import { type Inbox, openInbox } from "../../conformance/inbox.ts";
import type { Received } from "../../push/receiver.ts";
import type { SeenEvent, Webhook } from "../client-line.ts";
import { NOBODY, type ScenarioGroup, type ScenarioSetup, stateIn, taskOf, textIn } from "../scenario.ts";

const HOOK = "https://hooks.example.org/notify";

/** A webhook with all members that every version has. */
const FULL: Webhook = {
  url: HOOK,
  token: "my-token",
  authentication: { scheme: "Bearer", credentials: "my-credentials" },
};
/** The webhook in responses. */
const MASKED = { ...FULL, token: "***", authentication: { scheme: "Bearer", credentials: "***" } };

export const pushes: ScenarioGroup = {
  title: "Push notifications",
  scenarios: [
    {
      operation: "set and get a webhook",
      async run(setup) {
        const asking = await setup.connect("asking");
        const { id } = taskOf(await asking.send({ content: "The weather, please" }));
        const set = await asking.webhooks.set(id, FULL);
        expect(set).toEqual({ ...MASKED, id: expect.stringMatching(/./) });
        expect(await asking.webhooks.get(id, set.id ?? "")).toEqual(set);
        await setup.refused(asking.webhooks.set(NOBODY, FULL), "task-not-found");
        await setup.refused(asking.webhooks.get(NOBODY, "any"), "task-not-found");
      },
    },
    {
      operation: "several webhooks: list, replace, delete",
      needs: "webhook-lists",
      async run(setup) {
        const { send, webhooks } = await setup.connect("asking");
        const { id } = taskOf(await send({ content: "The weather, please" }));
        expect(await webhooks.list(id)).toEqual([]);
        for (const name of ["a", "b"]) await webhooks.set(id, { id: name, url: `${HOOK}/${name}` });
        await webhooks.set(id, { id: "a", url: `${HOOK}/new` });
        expect((await webhooks.list(id)).map((webhook) => [webhook.id, webhook.url])).toEqual([
          ["a", `${HOOK}/new`],
          ["b", `${HOOK}/b`],
        ]);
        // A deleted webhook may be deleted again.
        for (const _ of [1, 2]) await webhooks.delete(id, "a");
        expect((await webhooks.list(id)).map((webhook) => webhook.id)).toEqual(["b"]);
        await setup.refused(webhooks.get(id, "a"), "task-not-found");
        await setup.refused(webhooks.list(NOBODY), "task-not-found");
      },
    },
    {
      operation: "webhook with a message, in the client's own form",
      async run(setup) {
        await using inbox = await openInbox();
        const echo = await setup.connect("echo");
        const push = { ...FULL, url: inbox.url("/hook?of=me") };
        const { id } = taskOf(await echo.send({ content: "hello", push, wait: true }));
        const { post, events } = await receivedUntilEnd(setup, inbox);
        for (const { path, headers } of post) {
          expect(path).toBe("/hook?of=me");
          expect(headers).toMatchObject({
            authorization: "Bearer my-credentials",
            "x-a2a-notification-token": "my-token",
          });
        }
        expect(events.every((event) => idIn(event) === id)).toBe(true);
        expect(textOfAll(setup, events)).toBe("hello");
      },
    },
    {
      operation: "webhook of a running task, events in order",
      async run(setup) {
        await using inbox = await openInbox();
        const paced = await setup.connect("paced");
        const gate = setup.unusedName();
        const { id } = taskOf(await paced.send({ content: gate, wait: false }));
        await paced.webhooks.set(id, { url: inbox.url() });
        for (const name of [gate, `${gate}!`]) setup.gates.open(name);
        const { events } = await receivedUntilEnd(setup, inbox);
        expect(stateIn(events.at(-1))).toBe("completed");
        const texts = events.map((_, index) => textOfAll(setup, events.slice(0, index + 1)));
        for (const [index, text] of texts.entries()) expect(text.startsWith(texts[index - 1] ?? "")).toBe(true);
        expect(texts.at(-1)).toMatch(/three$/);
      },
    },
    {
      operation: "webhook of a streamed task",
      async run(setup) {
        await using inbox = await openInbox();
        const echo = await setup.connect("echo");
        for await (const _ of echo.stream({ content: "hello", push: { url: inbox.url() } }));
        const { events } = await receivedUntilEnd(setup, inbox);
        expect(textOfAll(setup, events)).toBe("hello");
      },
    },
    {
      operation: "address that no webhook may have",
      async run(setup) {
        const asking = await setup.connect("asking");
        const { id } = taskOf(await asking.send({ content: "The weather, please" }));
        for (const url of ["http://169.254.169.254/", "https://10.0.0.1/", "ftp://hooks.example.org/"]) {
          await setup.refused(asking.webhooks.set(id, { url }), "invalid-params");
          await setup.refused(asking.send({ content: "x", push: { url } }), "invalid-params");
        }
      },
    },
  ],
};

/**
 * The notifications until the task has ended, each read with the client's own functions and checked against its
 * version's definitions.
 */
async function receivedUntilEnd(
  setup: ScenarioSetup,
  inbox: Inbox,
): Promise<{ post: readonly Received[]; events: SeenEvent[] }> {
  const { line, inspector } = setup;
  const events: SeenEvent[] = [];
  const post = await inbox.until(({ body }) => {
    const value: unknown = JSON.parse(body);
    expect(inspector.pushFaults(value)).toEqual([]);
    const event = line.readPush(value);
    events.push(event);
    return stateIn(event) === "completed";
  });
  for (const { headers } of post) expect(headers["content-type"]).toMatch(/^application\/(a2a\+)?json$/);
  return { post, events };
}

/** The text in the notifications: all chunks, or the content of the last task. */
function textOfAll({ line }: ScenarioSetup, events: readonly SeenEvent[]): string {
  return textIn(line.rules.pushes === "events" ? events : events.slice(-1));
}

function idIn(event: SeenEvent): string | undefined {
  if (event.kind === "task") return event.task.id;
  return event.kind === "message" ? event.message.taskId : event.taskId;
}
