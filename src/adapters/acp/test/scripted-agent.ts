import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";

// A program that speaks ACP, written with the official SDK. What it does depends on the first word of the prompt. Its sessions are files in its working directory.

type Turn = { readonly user: string; readonly agent: string[] };

const [, , mode = ""] = process.argv;
const canceled = new Map<string, () => void>();
const fileOf = (id: string): string => `session-${id}.json`;
const read = (id: string): Turn[] => JSON.parse(readFileSync(fileOf(id), "utf8")) as Turn[];
const text = (value: string): { readonly type: "text"; readonly text: string } => ({ type: "text", text: value });

const app = agent({ name: "scripted" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: mode === "future" ? 99 : PROTOCOL_VERSION,
    agentCapabilities: { loadSession: mode !== "forgetful", promptCapabilities: { image: true } },
  }))
  .onRequest(methods.agent.session.new, () => {
    if (mode === "locked") throw RequestError.authRequired();
    const sessionId = randomUUID();
    writeFileSync(fileOf(sessionId), "[]");
    return { sessionId };
  })
  .onRequest(methods.agent.session.load, async ({ params: { sessionId }, client }) => {
    const send = (update: SessionUpdate): Promise<void> =>
      client.notify(methods.client.session.update, { sessionId, update });
    for (const turn of read(sessionId)) {
      await send({ sessionUpdate: "user_message_chunk", content: text(turn.user) });
      for (const said of turn.agent) await send({ sessionUpdate: "agent_message_chunk", content: text(said) });
    }
    return {};
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => canceled.get(params.sessionId)?.())
  .onRequest(methods.agent.session.prompt, async ({ params: { sessionId, prompt }, client }) => {
    const user = prompt.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("");
    const turns = read(sessionId);
    const turn: Turn = { user, agent: [] };
    const save = (): void => writeFileSync(fileOf(sessionId), JSON.stringify([...turns, turn]));
    save();
    const send = (update: SessionUpdate): Promise<void> =>
      client.notify(methods.client.session.update, { sessionId, update });
    const say = async (said: string): Promise<void> => {
      turn.agent.push(said);
      save();
      await send({ sessionUpdate: "agent_message_chunk", content: text(said) });
    };
    const attempt = (work: Promise<unknown>): Promise<string> =>
      work.then((result) => JSON.stringify(result)).catch((error: unknown) => `refused: ${(error as Error).message}`);
    const permission = async (title: string): Promise<string> => {
      const { outcome } = await client.request(methods.client.session.requestPermission, {
        sessionId,
        toolCall: { toolCallId: "p1", title, kind: "execute", rawInput: { command: title } },
        options: [
          { optionId: "always", name: "Always", kind: "allow_always" },
          { optionId: "once", name: "Only once", kind: "allow_once" },
          { optionId: "no", name: "No", kind: "reject_once" },
        ],
      });
      return outcome.outcome === "selected" ? outcome.optionId : outcome.outcome;
    };
    const [word, ...rest] = user.split(" ");
    const argument = rest.join(" ");
    switch (word) {
      case "tools":
        await send({ sessionUpdate: "agent_thought_chunk", content: text("Hmm.") });
        await send({
          sessionUpdate: "plan",
          entries: [
            { content: "Look", priority: "high", status: "completed" },
            { content: "Write", priority: "low", status: "in_progress" },
          ],
        });
        await send({
          sessionUpdate: "tool_call",
          toolCallId: "t1",
          title: "Read a.txt",
          kind: "read",
          rawInput: { path: "a.txt" },
        });
        await send({
          sessionUpdate: "tool_call_update",
          toolCallId: "t1",
          status: "completed",
          rawOutput: { lines: 3 },
        });
        await send({ sessionUpdate: "usage_update", used: 10, size: 100, cost: { amount: 0.25, currency: "USD" } });
        break;
      case "permit":
        await say("Asking. ");
        await say(`Outcome: ${await permission(argument)}.`);
        break;
      case "read":
        for (const path of rest)
          await say(
            `${await attempt(client.request(methods.client.fs.readTextFile, { sessionId, path, line: 2, limit: 1 }))}\n`,
          );
        break;
      case "write":
        for (const path of rest)
          await say(
            `${await attempt(client.request(methods.client.fs.writeTextFile, { sessionId, path, content: "new" }))}\n`,
          );
        break;
      case "terminal":
        await say(await attempt(client.request(methods.client.terminal.create, { sessionId, command: "ls" })));
        break;
      case "wait":
        await say("Waiting.");
        await new Promise<void>((resolve) => canceled.set(sessionId, resolve));
        return { stopReason: "cancelled" };
      case "work":
        await say("First half. ");
        if (argument !== "") await new Promise(() => {});
        break;
      case "stubborn":
        await say("Waiting.");
        await new Promise(() => {});
        break;
      case "refuse":
        return { stopReason: "refusal" };
      case "long":
        return { stopReason: "max_tokens" };
      case "fail":
        throw RequestError.internalError(undefined, "no model");
      case "crash":
        process.exit(7);
        break;
      case "flood":
        for (;;) await say("x".repeat(100_000));
      case "You": {
        const [last, ...titles] = turns.at(-1)?.user.split(" ") ?? [];
        await say(last === "permit" ? `Outcome: ${await permission(titles.join(" "))}.` : "Second half.");
        break;
      }
      default:
        for (const said of ["You said: ", user, `. Turns: ${turns.length + 1}`]) await say(said);
    }
    return { stopReason: "end_turn" };
  });

if (mode === "silent") setInterval(() => {}, 1000);
else {
  // Safe casts: Node's web streams are the standard ones.
  const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>;
  const input = Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>;
  await app.connect(ndJsonStream(output, input)).closed;
  process.exit(0);
}
