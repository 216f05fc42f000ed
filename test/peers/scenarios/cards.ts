import { expect } from "vitest";
import { EXTENSIONS } from "../agents.ts";
import { type ScenarioGroup, type ScenarioSetup, taskOf, textIn } from "../scenario.ts";

/** The extensions header, by either of its names. */
const extensionsIn = (headers: Headers) => [headers.get("a2a-extensions"), headers.get("x-a2a-extensions")];

const SCHEMES = { bearer: "http", key: "apiKey", oidc: "openIdConnect", oauth: "oauth2", certificate: "mutualTLS" };

export const cards: ScenarioGroup = {
  title: "Discovery",
  scenarios: [
    {
      operation: "agent card, at the root and in a folder",
      async run(setup) {
        const { card } = await setup.connect("echo");
        expect(card).toMatchObject({
          name: "Echo",
          version: "1.2.3",
          streaming: true,
          skills: ["echo", "repeat"],
          inputModes: ["text/plain", "*/*"],
          extensions: expect.arrayContaining([EXTENSIONS.offered]),
        });
        const root = await setup.line.connect(await setup.rootOf("echo"), {
          binding: setup.binding,
          fetch: setup.wire.fetch,
        });
        expect(root.card).toEqual(card);
        expect((await setup.connect("quiet")).card).toMatchObject({ name: "Quiet", streaming: false });
      },
    },
    {
      operation: "choice of the binding from the card",
      needs: "recorded-calls",
      async run(setup) {
        const { binding, wire } = setup;
        const peer = await setup.line.connect(await setup.addressOf("echo"), {
          binding,
          only: true,
          fetch: wire.fetch,
        });
        expect(taskOf(await peer.send({ content: "here" })).state).toBe("completed");
        expect(calledOver(setup)).toBe(binding);
      },
    },
    {
      operation: "security schemes in the card, credentials on demand",
      needs: "credentials",
      async run(setup) {
        const alice = await setup.connect("guarded", "alice");
        expect(alice.card.schemes).toEqual(SCHEMES);
        expect(alice.card.security).toEqual([{ bearer: [] }, { oauth: ["talk"], key: [] }]);
        expect(textIn(taskOf(await alice.send({ content: "who am I?" })))).toBe("alice");
        expect(setup.wire.exchanges.slice(-2).map(({ status }) => status)).toEqual([401, 200]);
        // Accepted credentials are sent with the next request without a challenge.
        await alice.send({ content: "and now?" });
        expect(setup.wire.exchanges.slice(-2).map(({ status }) => status)).toEqual([200, 200]);
      },
    },
    {
      operation: "extended card",
      needs: "extended-card",
      async run(setup) {
        const alice = await setup.connect("discreet", "alice");
        expect(alice.card).toMatchObject({ description: "Shows half of what it can do.", skills: ["public"] });
        expect(await alice.extendedCard()).toMatchObject({
          name: "Discreet",
          description: "Shows all of what it can do.",
          skills: ["public", "private"],
          schemes: SCHEMES,
          security: alice.card.security,
        });
      },
    },
    {
      operation: "tenants",
      needs: "tenants",
      async run(setup) {
        const mirror = await setup.connect("mirror");
        const task = taskOf(await mirror.send({ content: "whose?", tenant: "acme" }));
        expect(task.artifacts[0]?.parts[0]?.data).toMatchObject({ tenant: "acme" });
        expect(await mirror.get(task.id, { tenant: "acme" })).toEqual(task);
        await setup.refused(mirror.get(task.id), "task-not-found");
      },
    },
    {
      operation: "extensions, activated and required",
      needs: "extensions",
      async run(setup) {
        const echo = await setup.connect("echo");
        await echo.send({ content: "x" }, { extensions: [EXTENSIONS.offered, "https://example.org/unheard-of"] });
        if (setup.can("recorded-calls")) {
          const { requestHeaders, headers } = setup.wire.last;
          const asked = extensionsIn(requestHeaders).map((value) => (value === null ? null : EXTENSIONS.offered));
          expect(extensionsIn(headers)).toEqual(asked);
          expect(asked).toContain(EXTENSIONS.offered);
        }
        const demanding = await setup.connect("demanding");
        const task = taskOf(await demanding.send({ content: "x" }, { extensions: [EXTENSIONS.required] }));
        expect(task.state).toBe("completed");
      },
    },
  ],
};

/** The binding of the last call. */
function calledOver({ wire }: ScenarioSetup): string {
  const { method, url, requestBody = "" } = wire.last;
  if (requestBody.startsWith('{"jsonrpc"')) return "JSONRPC";
  return method === "POST" && url.endsWith("/message:send") ? "HTTP+JSON" : `${method} ${url}`;
}
