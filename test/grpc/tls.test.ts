import { connect as connectHttp2 } from "node:http2";
import { get } from "node:https";
import { agent, createServer, type Server } from "palaver";
import { afterEach, expect, it } from "vitest";
import { createAuthority } from "../../src/platform/test/certificate-authority.ts";
import { rawCall, SERVICE_1_0 } from "./call.ts";
import { framed, message, number, text } from "./protobuf.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
let server: Server | undefined;
afterEach(() => server?.close());

it("TLS serves HTTP/1 and gRPC on one port, and gRPC callers are authenticated by their certificates", async () => {
  const authority = createAuthority("Callers");
  const own = authority.issue({ commonName: "server" });
  const caller = authority.issue({ commonName: "ada" });
  const seen: (string | undefined)[] = [];
  const echo = agent({
    name: "Echo",
    description: "Says who called.",
    version: "1.0.0",
    run: async (task) => `You are ${task.caller.id}`,
  });
  server = createServer(echo, {
    port: 0,
    store: "memory:",
    logger: QUIET,
    drainTimeout: 0,
    tls: { ...own, clientCa: authority.cert },
    authenticate: ({ certificate }) => {
      seen.push(certificate?.commonName);
      return certificate?.commonName === undefined ? undefined : { id: certificate.commonName, anonymous: false };
    },
  });
  const { url } = await server.listen();
  const tls = { ca: authority.cert, ...caller };
  const status = await new Promise<number | undefined>((resolve, reject) => {
    get(`${url}/healthz`, { ...tls, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).on("error", reject);
  });
  expect(status).toBe(200);
  const session = connectHttp2(url, tls);
  const body = framed(message(2, text(1, "m"), number(4, 1), message(5, text(1, "who?"))));
  const answer = await rawCall(session, { path: `/${SERVICE_1_0}/SendMessage`, body });
  expect(answer).toMatchObject({ grpc: 0, headers: { "strict-transport-security": expect.any(String) } });
  expect(answer.body.toString()).toContain("You are ada");
  expect(seen).toEqual(["ada"]);
  session.destroy();
});
