import { agent, createServer } from "palaver";

/** A node for `measure.ts`: prints its address. */
const worker = agent({
  name: "Worker",
  description: "Answers, streams, or waits.",
  version: "1",
  async run(task) {
    const [kind = "", count = "0", pause = "0"] = task.text.split(" ");
    if (kind === "wait") return `answered ${await task.ask("Go on?")}`;
    if (kind === "stream") {
      const out = task.artifact("text");
      for (let n = 0; n < Number(count); n++) {
        await out.write(`event number ${n} `);
        await new Promise((resolve) => setTimeout(resolve, Number(pause)));
      }
    }
    return "done";
  },
});

const server = createServer(worker, {
  port: 0,
  store: "postgres:",
  ...(process.env["BUS"] !== undefined && { bus: process.env["BUS"] }),
  limits: { maxStreamsPerCaller: 1_000_000, maxRunsPerOwner: 1_000_000 },
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
process.stdout.write(`${(await server.listen()).url}\n`);
process.on("SIGTERM", () => void server.close().then(() => process.exit(0)));
