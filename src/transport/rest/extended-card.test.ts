import { expect, it } from "vitest";
import { A2AError } from "../../protocol/error.ts";
import type { CallRecord } from "../options.ts";
import { describeFaces, type Site, type SiteOptions, testAgent } from "../test/faces.ts";

const PATH = "/agent/authenticatedExtendedCard";

const guarded: SiteOptions = {
  authenticate: ({ headers }) => {
    const [, name] = /^Bearer (\w+)$/.exec(headers.get("authorization") ?? "") ?? [];
    if (name === "banned") throw new A2AError("permission-denied", "Not you");
    return name === undefined ? undefined : { id: name, anonymous: false };
  },
  agents: [
    testAgent({ extendedCard: { description: "Says more." } }),
    testAgent({
      id: "choosy",
      name: "Choosy",
      extendedCard: ({ id }) => {
        if (id === "eve") throw new A2AError("permission-denied", "Not for Eve");
        return id === "ada" ? { description: "For Ada." } : undefined;
      },
    }),
    testAgent({ id: "plain", name: "Plain" }),
  ],
};

async function read(site: Site, path: string, name?: string): Promise<Response> {
  return site.request(path, name === undefined ? {} : { headers: { authorization: `Bearer ${name}` } });
}

describeFaces("The extended card at a path of its own", (open) => {
  it("is the card of that version, for authenticated callers, and not for shared caches", async () => {
    const site = await open(guarded);
    const response = await read(site, PATH, "ada");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toMatch(/^private/);
    expect(await response.json()).toMatchObject({
      name: "Echo",
      description: "Says more.",
      url: "http://agents.example/a2a",
      protocolVersion: expect.stringMatching(/^0\.2\./),
      supportsAuthenticatedExtendedCard: true,
    });
  });

  it("is found relative to each agent's URL, one level up", async () => {
    const site = await open(guarded);
    for (const place of ["", "/agents/echo", "/agents/choosy"]) {
      const { url } = await site.ask(`GET ${place}/.well-known/agent.json`);
      const { pathname } = new URL(`${url}/../agent/authenticatedExtendedCard`);
      expect(pathname).toBe(place + PATH);
      const response = await read(site, pathname, "ada");
      expect(await response.json()).toMatchObject({ url });
    }
  });

  it.each([
    { who: "has said nothing", path: PATH, name: undefined, status: 401 },
    { who: "has said nothing, of another agent", path: `/agents/choosy${PATH}`, name: undefined, status: 401 },
    { who: "is refused by the authenticator", path: PATH, name: "banned", status: 403 },
    { who: "is refused by the agent", path: `/agents/choosy${PATH}`, name: "eve", status: 403 },
    { who: "is shown none by the agent", path: `/agents/choosy${PATH}`, name: "bob", status: 403 },
    { who: "asks an agent that has none", path: `/agents/plain${PATH}`, name: "ada", status: 404 },
    { who: "asks an agent that has none, saying nothing", path: `/agents/plain${PATH}`, name: undefined, status: 404 },
    { who: "asks an agent that is not there", path: `/agents/nobody${PATH}`, name: "ada", status: 404 },
  ])("is refused to a caller who $who", async ({ path, name, status }) => {
    const site = await open(guarded);
    const response = await read(site, path, name);
    expect(response.status).toBe(status);
    expect(response.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
    expect(await response.json()).not.toHaveProperty("name");
  });

  it("supports only GET, and does not exist if its version is off", async () => {
    const site = await open(guarded);
    const response = await site.request(PATH, { method: "POST" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    const newest = await open({ ...guarded, dialects: { versions: ["1.0", "0.3"] } });
    expect((await read(newest, PATH, "ada")).status).toBe(404);
  });

  it("is reported to the call hook", async () => {
    const records: CallRecord[] = [];
    const site = await open({ ...guarded, hooks: { on: { call: (record) => void records.push(record) } } });
    await read(site, PATH, "ada");
    await read(site, PATH);
    expect(
      records.map(({ operation, dialect, principal, error }) => [operation, dialect, principal.id, error]),
    ).toEqual([
      ["extended-card", "0.2/rest", "ada", undefined],
      ["extended-card", "0.2/rest", expect.any(String), "unauthenticated"],
    ]);
  });
});
