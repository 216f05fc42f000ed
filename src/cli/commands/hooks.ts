import { once } from "node:events";
import { Command, InvalidArgumentError } from "commander";
import { createWebhookVerifier, type WebhookVerifier } from "../../webhook/create-webhook-verifier.ts";
import { usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { arrivalJson, arrivalText, type Paint } from "../session/arrival-text.ts";
import { type Arrival, listenForHooks } from "../session/hooks-listener.ts";
import { exampleText } from "./agent.ts";

const EXAMPLES = [
  ["palaver hooks listen", "print every notification, unverified"],
  ["palaver hooks listen --issuer http://127.0.0.1:3000", "verify signatures of this server"],
  ["palaver hooks listen --token s3cret --json", "verify the token; print one line of JSON per notification"],
  ["palaver hooks listen --fail 2", "answer the first two with 500, to test retries"],
] as const;

interface Flags {
  readonly port: number;
  readonly host: string;
  readonly token?: string;
  readonly issuer?: readonly string[];
  readonly url?: readonly string[];
  readonly status?: number;
  readonly fail?: number;
  readonly json?: boolean;
}

/** `palaver hooks listen`: a webhook receiver for development. */
export function hooksCommand(context: CliContext): Command {
  const listen = new Command("listen")
    .description("Receive push notifications, verify and print them.")
    .option("-p, --port <number>", "port to listen on; 0 picks a free one", wholeNumber, 8787)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--issuer <url>", "URL of a server whose signatures to accept; may be repeated", collect)
    .option(
      "--url <url>",
      "URL at which agents reach this listener, if it differs from its address; may be repeated",
      collect,
    )
    .option("--token <token>", "token that notifications must carry")
    .option("--status <code>", "answer with this status (default: 204)", statusCode)
    .option(
      "--fail <number>",
      "answer the first notifications, this many, with an error: 500, or --status",
      wholeNumber,
    )
    .option("--json", "print one line of JSON per notification")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", exampleText(EXAMPLES))
    .action((flags: Flags) => listenAndPrint(flags, context));
  return new Command("hooks")
    .description("Receive push notifications of agents.")
    .helpOption("-h, --help", "print this help")
    .addCommand(listen);
}

/** Runs until the user interrupts it. */
async function listenAndPrint(flags: Flags, context: CliContext): Promise<void> {
  const { port, host, json = false } = flags;
  const { stdout, stderr, now, signal } = context;
  const paint = paintOn(context);
  // Lines are written one after the other, so that concurrent notifications do not mix.
  let printed: Promise<void> = Promise.resolve();
  const onArrival = (arrival: Arrival): Promise<void> => {
    const line = json ? arrivalJson(arrival, now()) : arrivalText(arrival, now(), paint);
    printed = printed.then(() => stdout.write(line));
    return printed;
  };
  const verifierFor = verifierMaker(flags, context);
  const listener = await listenForHooks({ host, port, verifierFor, nextStatus: statuses(flags), onArrival });
  try {
    const checks = verifierFor === undefined ? " Nothing is verified: add --issuer or --token." : "";
    await stderr.write(`Listening on ${listener.url}/ for notifications.${checks} Ctrl+C stops.\n`);
    if (!signal.aborted) await once(signal, "abort");
  } finally {
    await listener.close();
  }
}

/** `undefined` if neither `--issuer` nor `--token` is set: nothing is verified. */
function verifierMaker(flags: Flags, { fetch, now }: CliContext): ((url: string) => WebhookVerifier) | undefined {
  const { issuer: issuers, token, url: urls } = flags;
  if (issuers === undefined && token === undefined) {
    if (urls !== undefined)
      throw usageError("--url needs --issuer: the URL of the server whose notifications to verify.");
    return undefined;
  }
  const make = (own: string): WebhookVerifier =>
    createWebhookVerifier({ issuers, token, fetch, now, audience: urls ?? ((url) => isHere(url, own)) });
  // Report invalid options before the listener starts.
  try {
    make("http://127.0.0.1");
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error));
  }
  return make;
}

/** Whether a URL is the listener's own, under any name of this machine. */
function isHere(url: string, own: string): boolean {
  const [there, here] = [URL.parse(url), new URL(own)];
  const names = ["localhost", "127.0.0.1", "[::1]", here.hostname];
  return there !== null && there.port === here.port && names.includes(there.hostname);
}

/** Returns the HTTP status of each response in turn. `undefined`: the default status. */
function statuses({ status, fail }: Flags): () => number | undefined {
  if (fail === undefined) return () => status;
  let left = fail;
  return () => {
    left -= 1;
    return left >= 0 ? (status ?? 500) : undefined;
  };
}

/** Colour only on a terminal, and not if `NO_COLOR` is set. */
function paintOn({ stdout, env }: CliContext): Paint {
  const isPlain = !stdout.isTTY || Boolean(env["NO_COLOR"]) || env["TERM"] === "dumb";
  return (colour, text) => (isPlain ? text : `\u001b[${colour}m${text}\u001b[0m`);
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

function statusCode(text: string): number {
  if (/^[2-5]\d\d$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be an HTTP status from 200 to 599.");
}

/** Collects the values of an option that may be repeated. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}
