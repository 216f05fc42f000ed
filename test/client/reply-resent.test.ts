import { agent } from "palaver";
import { afterEach, expect, it } from "vitest";
import type { RemoteStreamEvent } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import { textOf } from "../../src/protocol/part.ts";
import { openSite, type Site } from "./own-server.ts";

/** Asks, then writes several chunks and a status. Calls `proceed` when all of them are stored. */
function asking(proceed: () => Promise<void>) {
  return agent({
    id: "asking",
    name: "Asking",
    description: "Asks and then writes.",
    version: "1.0.0",
    async run(task) {
      const name = await task.ask("Who?");
      const out = task.artifact("out");
      for (let index = 0; index < 3; index++) {
        await out.write(`${name}${index};`);
        await task.flush();
      }
      await task.status("nearly");
      await proceed();
    },
  });
}

function isReply(init: RequestInit | undefined): boolean {
  return typeof init?.body === "string" && init.body.includes('"taskId"');
}

/** A `fetch` that loses the response to the first reply once `ready` resolves. */
function losingFirstReply(ready: Promise<void>): typeof fetch {
  let isLost = false;
  return async (input, init) => {
    const response = await fetch(input, init);
    if (isLost || !isReply(init)) return response;
    isLost = true;
    await ready;
    await response.body?.cancel();
    throw new TypeError("fetch failed");
  };
}

function lineOf(event: RemoteStreamEvent): string {
  if (event.kind === "message") return "message";
  if (event.kind === "task") return `task ${event.task.status.state}`;
  if (event.kind === "artifact") return `${event.append ? "+" : ""}=${textOf(event.artifact.parts)}`;
  return `${event.status.state} ${textOf(event.status.message?.parts ?? [])}`.trim();
}

let site: Site | undefined;
afterEach(async () => {
  await site?.close();
  site = undefined;
});

it.each([
  ["1.0", "JSONRPC"],
  ["1.0", "HTTP+JSON"],
  ["0.3", "JSONRPC"],
  ["0.3", "HTTP+JSON"],
])(
  "a reply of %s over %s whose response is lost delivers every later event once, in order",
  async (version, binding) => {
    const stored = Promise.withResolvers<void>();
    const resent = Promise.withResolvers<void>();
    site = await openSite(
      asking(async () => {
        stored.resolve();
        await resent.promise;
      }),
      { idempotency: { window: 60_000 } },
    );
    const losing = losingFirstReply(stored.promise);
    let replies = 0;
    const counting: typeof fetch = async (input, init) => {
      if (isReply(init) && ++replies === 2) {
        const response = await fetch(input, init);
        resent.resolve();
        return response;
      }
      return losing(input, init);
    };
    const remote = await connect(site.url, { fetch: counting, version, binding, retry: { baseDelay: 1 } });
    const lines: string[] = [];
    for await (const event of remote.stream("go", { onInput: () => "Ada" })) lines.push(lineOf(event));
    expect(replies).toBe(2);
    expect(lines.slice(lines.indexOf("input-required Who?") + 1).filter((line) => line !== "+=")).toEqual([
      "working",
      "=Ada0;",
      "+=Ada1;",
      "+=Ada2;",
      "working nearly",
      "completed",
    ]);
  },
);
