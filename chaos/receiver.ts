import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { pictureOf, type WireEvent, wireLine, wireTask } from "./event-line.ts";
import { openJournal } from "./journal.ts";
import { createRandom } from "./random.ts";

/** The JSON argument of the webhook receiver process. */
export interface ReceiverSetup {
  readonly journal: string;
  readonly seed: string;
  /** The probability that a notification is answered with 503 or not at all. */
  readonly failures: number;
}

const setup: ReceiverSetup = JSON.parse(process.argv[2] ?? "");
const journal = openJournal(setup.journal);
const random = createRandom(setup.seed);
/** Consecutive failures by webhook: the server abandons a webhook after several. */
const failures = new Map<string, number>();
const MAX_IN_A_ROW = 2;

const server = createServer((request, response) => void receive(request, response));
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}` });
});
process.on("disconnect", () => process.exit(0));

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body: string;
  try {
    body = await text(request);
  } catch {
    // The sender was killed during the request.
    return;
  }
  const hook = request.url ?? "";
  const task = hook.slice(hook.lastIndexOf("/") + 1);
  const event: WireEvent = JSON.parse(body);
  const whole = wireTask(event);
  const content = wireLine(event) ?? (whole === undefined ? body : pictureOf(whole));
  const answer = answerFor(hook);
  journal({ kind: "notified", task, hook, jti: jtiOf(request), content, answer });
  if (answer === 0) response.destroy();
  else response.writeHead(answer, { "content-length": 0 }).end();
}

/** The HTTP status; 0: the connection is cut. */
function answerFor(hook: string): number {
  const inARow = failures.get(hook) ?? 0;
  if (inARow >= MAX_IN_A_ROW || !random.chance(setup.failures)) {
    failures.delete(hook);
    return 200;
  }
  failures.set(hook, inARow + 1);
  return random.pick([503, 503, 0]);
}

/** The jti of the notification's signature. */
function jtiOf({ headers }: IncomingMessage): string {
  const token = headers["x-a2a-notification-signature"];
  if (typeof token !== "string") return "";
  const { jti }: { readonly jti?: string } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  return jti ?? "";
}
