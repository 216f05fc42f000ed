import { Agent, get } from "node:http";
import { expect, it } from "vitest";
import { agent, createServer } from "../../src/index.ts";
import { sampled } from "../fixtures/budget.ts";

const REQUESTS = sampled(2000, 10_000);
const LIMIT = { requests: 200, seconds: 10 };

interface Answer {
  readonly status: number;
  readonly limit: string | undefined;
  readonly remaining: number;
  readonly retryAfter: string | undefined;
}

it(`lets no more of ${REQUESTS} requests pass than the limit plus the tokens refilled meanwhile`, async () => {
  const echo = agent({ name: "Echo", description: "Echoes.", version: "1", run: async (task) => task.text });
  const server = createServer(echo, { port: 0, store: "memory:", rateLimit: { principal: LIMIT } });
  const { port } = await server.listen();
  const sockets = new Agent({ keepAlive: true, maxSockets: 32 });
  const ask = (): Promise<Answer> =>
    new Promise((resolve, reject) => {
      get({ host: "127.0.0.1", port, path: "/tasks/none", agent: sockets }, (response) => {
        response.resume();
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            limit: response.headers["x-ratelimit-limit"]?.toString(),
            remaining: Number(response.headers["ratelimit-remaining"]),
            retryAfter: response.headers["retry-after"],
          }),
        );
      }).on("error", reject);
    });
  try {
    const start = performance.now();
    const answers = await Promise.all(Array.from({ length: REQUESTS }, ask));
    const elapsed = performance.now() - start;
    const passed = answers.filter(({ status }) => status === 404);
    const refused = answers.filter(({ status }) => status === 429);
    expect(passed.length + refused.length).toBe(REQUESTS);
    expect(passed.length).toBeGreaterThanOrEqual(LIMIT.requests);
    const refilled = Math.ceil((elapsed * LIMIT.requests) / (LIMIT.seconds * 1000));
    expect(passed.length).toBeLessThanOrEqual(LIMIT.requests + refilled);
    expect(answers.every(({ limit }) => limit === String(LIMIT.requests))).toBe(true);
    expect(refused.every(({ remaining, retryAfter }) => remaining === 0 && retryAfter === "1")).toBe(true);
  } finally {
    sockets.destroy();
    await server.close();
  }
});
