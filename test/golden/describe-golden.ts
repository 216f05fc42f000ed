import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EventSource, sendHttp } from "../conformance/http.ts";
import { NODES } from "../fixtures/nodes/serve-agents.ts";
import { type GoldenServer, startGoldenServer } from "./golden-server.ts";
import { Placeholders } from "./matching.ts";
import { chaptersOf, type Exchange, type Story } from "./story.ts";

const MAX_TRIES = 500;
const TOO_MUCH = "-32011: too much to do";

/** Runs every exchange of a version over real connections, one chapter per test. */
export function describeGolden(version: string): void {
  let servers: { readonly patient: GoldenServer; readonly prompt: GoldenServer };
  beforeAll(async () => {
    const [patient, prompt] = await Promise.all([true, false].map((wait) => startGoldenServer({ atOnce: !wait })));
    if (patient !== undefined && prompt !== undefined) servers = { patient, prompt };
  });
  afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())));

  for (const { title, stories } of chaptersOf(version)) {
    describe(title, () => {
      for (const story of stories) {
        // How many tasks of an agent run at a time is limited by each node.
        const isOfOneNode = story.name === TOO_MUCH;
        it.skipIf(isOfOneNode && NODES > 1)(story.name, () =>
          tell(story, story.atOnce === true ? servers.prompt : servers.patient),
        );
      }
    });
  }
}

async function tell({ agent, exchanges }: Story, { url, gates }: GoldenServer): Promise<void> {
  const placeholders = new Placeholders();
  for (const exchange of exchanges) {
    const ask = () => send(`${url}/agents/${agent}/`, exchange, placeholders);
    const open = () => {
      for (const gate of exchange.opens ?? []) gates.open(gate);
    };
    if (exchange.until === true) await untilAnswered(ask, exchange, placeholders);
    else if (exchange.events === undefined) await expectReply(await ask(), exchange, placeholders);
    else await expectEvents(await ask(), exchange, { placeholders, open });
    open();
  }
}

function send(address: string, exchange: Exchange, placeholders: Placeholders): Promise<Response> {
  const { path = "a2a", headers = {}, request } = exchange;
  const url = address + path;
  if (request === undefined) return sendHttp({ method: "GET", url, headers });
  return sendHttp({
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers },
    body: typeof request === "string" ? request : JSON.stringify(placeholders.fill(request)),
  });
}

async function expectReply(response: Response, { status = 200, reply }: Exchange, placeholders: Placeholders) {
  const actual: unknown = JSON.parse(await response.text());
  expect(actual).toEqual(placeholders.settle(reply, actual));
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json");
}

async function untilAnswered(ask: () => Promise<Response>, exchange: Exchange, placeholders: Placeholders) {
  for (let tries = 1; ; tries++) {
    try {
      return await expectReply(await ask(), exchange, placeholders);
    } catch (thrown) {
      if (tries === MAX_TRIES) throw thrown;
    }
    await sleep(5);
  }
}

interface Listening {
  readonly placeholders: Placeholders;
  open(): void;
}

async function expectEvents(response: Response, { events = [] }: Exchange, { placeholders, open }: Listening) {
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const source = new EventSource(response);
  const came: { readonly event: string | undefined; readonly id: string | undefined; readonly data: unknown }[] = [];
  for (let frame = await source.next(); frame !== undefined; frame = await source.next()) {
    came.push({ event: frame.event, id: frame.id, data: JSON.parse(frame.data) as unknown });
    open();
  }
  const expected = events.map(({ event, id, data }, index) => ({
    event,
    id: id ?? came[index]?.id,
    data: placeholders.settle(data, came[index]?.data),
  }));
  expect(came).toEqual(expected);
}
