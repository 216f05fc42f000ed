import { type Agent, agent, team } from "palaver";

/** Serve all: `palaver serve examples/team.ts`. Each member is an agent of its own, too. */
const outline = agent({
  name: "Outline",
  description: "Turns a subject into three headings.",
  version: "1.0.0",
  run: async (task) => ["What is", "Why", "How"].map((word) => `${word} ${task.text}`).join("\n"),
});

const draft = agent({
  name: "Draft",
  description: "Writes a sentence for each heading.",
  version: "1.0.0",
  async *run(task) {
    for (const heading of task.text.split("\n")) {
      await task.usage({ outputTokens: heading.length });
      yield `${heading}? It depends.\n`;
    }
  },
});

const writer = team({
  name: "Writer",
  description: "Outlines a text, then drafts it.",
  version: "1.0.0",
  pattern: "pipeline",
  agents: { outline, draft },
});

const critics = team({
  name: "Critics",
  description: "Asks two critics at once and shows both opinions.",
  version: "1.0.0",
  pattern: "parallel",
  agents: { length: "length", tone: "tone" },
  merge: (results) => [...results].map(([name, { text }]) => `${name}: ${text}`).join("\n"),
});

const length = agent({
  name: "Length",
  description: "Judges the length of a text.",
  version: "1.0.0",
  run: async (task) => (task.text.length > 100 ? "too long" : "fine"),
});

const tone = agent({
  name: "Tone",
  description: "Judges the tone of a text.",
  version: "1.0.0",
  run: async (task) => (task.text.includes("!") ? "too loud" : "calm"),
});

const reception = team({
  name: "Reception",
  description: "Sends questions to the critics and everything else to the writer.",
  version: "1.0.0",
  pattern: "router",
  agents: { writer: "writer", critics: "critics" },
  pick: (task) => (task.text.startsWith("Judge") ? "critics" : "writer"),
});

const agents: readonly Agent[] = [reception, writer, critics, outline, draft, length, tone];
export default agents;
