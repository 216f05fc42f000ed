import { connect, textOf } from "palaver/client";

const agent = await connect(process.argv[2] ?? "http://127.0.0.1:3000");
const stream = agent.stream("Oslo", {
  onInput({ text }) {
    console.log(text);
    return "2";
  },
});
for await (const event of stream) {
  if (event.kind === "status") console.log(`[${event.status.state}]`);
  if (event.kind === "artifact") console.log(textOf(event.artifact.parts));
}
