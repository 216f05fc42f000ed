import { describe, expect, it } from "vitest";
import { agent } from "../engine/agent.ts";
import { banner, plainBanner } from "./banner.ts";

const facts = {
  url: "http://127.0.0.1:3000",
  agents: [
    agent({ name: "Echo", description: "d", version: "1", run: async () => {} }),
    agent({ id: "down", name: "Countdown", description: "d", version: "1", run: async () => {} }),
  ],
  storage: "/data/palaver.db",
  version: "1.2.3",
};

describe.each([
  ["on a terminal", banner],
  ["in a log", plainBanner],
])("the banner %s", (_, render) => {
  const text = render(facts);

  it.each([
    "Palaver 1.2.3 is listening on http://127.0.0.1:3000\n",
    "http://127.0.0.1:3000/agents/echo/\n",
    "http://127.0.0.1:3000/agents/down/\n",
    "http://127.0.0.1:3000/.well-known/agent-card.json\n",
    "/data/palaver.db\n",
  ])("says %j", (fact) => {
    expect(text).toContain(fact);
  });

  it("has a request to try that is JSON a shell passes on unharmed", () => {
    const body = /-d '([^']*)'/.exec(text)?.[1] ?? "";
    expect(JSON.parse(body)).toMatchObject({ method: "SendMessage", params: { message: { role: "ROLE_USER" } } });
  });
});
