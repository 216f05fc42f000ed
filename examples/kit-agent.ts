import { type AgentDefinition, agent, type TaskContext } from "palaver";

/** The behaviour of a task for one message. */
type Scene = (task: TaskContext) => Promise<unknown>;

/** Milliseconds that a task keeps working for kits that come back to it: more than twice their wait for an event. */
const LONG = 5000;

const note = new TextEncoder().encode("A note.\n");
const file = { name: "output.txt", mediaType: "text/plain" };

/**
 * Behaviours by the prefix of the message id; the longest matching prefix counts. The kit checks these texts and names.
 */
const SCENES: Readonly<Record<string, Scene>> = {
  "tck-": (task) => task.status("Done as the kit wished."),
  "tck-input-required": ask,
  "tck-reject-task": async (task) => task.reject("Messages of this kind are refused."),
  "tck-artifact-text": (task) => task.artifact("text").end("Generated text content"),
  "tck-artifact-file": (task) => task.artifact("file").end({ file: { ...file, bytes: note } }),
  "tck-artifact-file-url": (task) => task.artifact("file").end({ file: { ...file, url: "https://example.org/note" } }),
  "tck-artifact-data": (task) => task.artifact("data").end({ key: "value", count: 42 }),
  "tck-stream-": (task) => task.artifact("text").end("Something to read."),
  "tck-stream-artifact-file": (task) => task.artifact("file").end({ file: { ...file, bytes: note } }),
  "tck-stream-artifact-chunked": inPieces,
  "test-resubscribe-message-id": (task) => task.sleep(LONG),
  "test-state-message-id": (task) => task.next({ signal: AbortSignal.timeout(LONG) }),
};

const declaration: AgentDefinition = {
  name: "Kit agent",
  description: "Does what the compatibility kits of the A2A project ask for.",
  version: "1.0.0",
  skills: [
    {
      id: "act",
      name: "Act",
      description: "Reads how the id of a message begins, and acts on it.",
      tags: ["conformance"],
      examples: ["Hello"],
    },
  ],
  inputModes: ["text/*", "image/*", "application/json", "application/pdf", "application/octet-stream"],
  outputModes: ["text/plain", "application/json"],
  reply: ({ messageId }) => (messageId.startsWith("tck-message-response") ? "Direct message response" : undefined),
  async run(task) {
    let scene: Scene;
    do {
      scene = sceneFor(task.history.findLast(({ role }) => role === "user")?.messageId ?? "");
      await scene(task);
    } while (scene === ask);
  },
};

/** The agent that the kits test. It streams and supports webhooks. */
const kit = agent({ ...declaration, id: "kit", capabilities: { pushNotifications: true } });

/** For kit tests of agents without streaming and webhooks. */
const plain = agent({ ...declaration, id: "kit-plain", capabilities: { streaming: false, pushNotifications: false } });

/** For kit tests of agents with a required extension. */
const extended = agent({
  ...declaration,
  id: "kit-extended",
  extensions: [{ uri: "urn:a2a:tck:required-extension", required: true }],
});

export default [kit, plain, extended];

/** The 0.3 kit needs tasks that stay open for more messages: a message id that is not in the table gets a question. */
function sceneFor(messageId: string): Scene {
  const prefixes = Object.keys(SCENES).filter((prefix) => messageId.startsWith(prefix));
  const longest = prefixes.toSorted((one, other) => other.length - one.length)[0];
  return (longest === undefined ? undefined : SCENES[longest]) ?? ask;
}

async function ask(task: TaskContext): Promise<void> {
  await task.ask("What else?");
}

async function inPieces(task: TaskContext): Promise<void> {
  const text = task.artifact("text");
  await text.write("one piece, ");
  await text.end("and the last.");
}
