/** What the files of a new project depend on. */
export interface Project {
  readonly name: string;
  /** The version of this package. */
  readonly palaver: string;
}

/** The files of a new project, by name. */
export function projectFiles({ name, palaver }: Project): Readonly<Record<string, string>> {
  const manifest = {
    name,
    version: "0.0.1",
    private: true,
    type: "module",
    scripts: { start: "palaver serve agent.ts", test: "node --test" },
    dependencies: { palaver: `^${palaver}` },
    engines: { node: ">=24" },
  };
  return {
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "agent.ts": AGENT,
    "agent.test.ts": TEST,
    "README.md": readme(name),
    ".gitignore": "node_modules/\n.palaver/\n.env\n",
  };
}

/** Shows a status, a question and streamed output in few lines. */
const AGENT = unindented(`
  import { agent } from "palaver";

  export default agent({
    name: "Greeter",
    description: "Greets a person, formally or warmly.",
    version: "0.0.1",
    skills: [{ id: "greet", name: "Greet", description: "Says hello.", tags: ["greeting"], examples: ["Ada"] }],
    async *run(task) {
      await task.status("Thinking of something nice to say");
      const style = await task.ask(\`Shall I greet \${task.text} formally or warmly?\`);
      const words = /formal/i.test(style) ? ["Good day, ", task.text, "."] : ["Hello, dear ", task.text, "!"];
      for (const word of words) yield word;
    },
  });
`);

/** Runs with `node --test`, without a port and without other packages. */
const TEST = unindented(`
  import assert from "node:assert/strict";
  import { test } from "node:test";
  import { createServer } from "palaver";
  import { connect, textOf } from "palaver/client";
  import greeter from "./agent.ts";

  const server = createServer(greeter, { store: "memory:" });
  test.after(() => server.close());

  test("asks how to greet, and does it", async () => {
    // No port is needed: requests go straight to the server.
    const remote = await connect("http://localhost", { fetch: (input, init) => server.fetch(new Request(input, init)) });
    const questions: string[] = [];
    const sent = await remote.send("Ada", {
      onInput({ text }) {
        questions.push(text);
        return "warmly";
      },
    });
    assert.deepEqual(questions, ["Shall I greet Ada formally or warmly?"]);
    assert(sent.kind === "task");
    assert.equal(sent.task.status.state, "completed");
    assert.equal(textOf(sent.task.artifacts?.[0]?.parts ?? []), "Hello, dear Ada!");
  });
`);

function readme(name: string): string {
  return `# ${name}

An agent that every other agent can reach, over the Agent2Agent (A2A) protocol. It is in \`agent.ts\`.

\`\`\`sh
npm install
npm start      # serves it at http://127.0.0.1:3000
npm test
\`\`\`

Talk to it from another terminal:

\`\`\`sh
npx palaver card get -a http://127.0.0.1:3000
npx palaver send "Ada" -a http://127.0.0.1:3000
npx palaver send --task-id TASK-ID "warmly" -a http://127.0.0.1:3000 --stream
\`\`\`

It asks a question in between, and may be stopped and started again before you answer: tasks are kept in \`.palaver/\`.

- \`task.status(text)\` reports progress to callers.
- \`task.ask(question)\` waits for an answer, for days if need be.
- \`yield\` streams the result.
- \`task.step(name, work)\` remembers what was done, so that it is not done again after a crash.
`;
}

/** Removes the indentation and the surrounding line breaks of a template literal. */
function unindented(text: string): string {
  return `${text.replaceAll(/^ {2}/gm, "").trim()}\n`;
}
