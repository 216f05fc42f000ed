import { type AgentDefinition, agent, type TaskContext } from "palaver";

/** What a task does when a message comes. */
type Scene = (task: TaskContext) => Promise<unknown>;

/** Milliseconds for which a task stays at work that the kits come back to: more than twice what they wait for an event. */
const LONG = 5000;

const note = new TextEncoder().encode("A note.\n");
const file = { name: "output.txt", mediaType: "text/plain" };

/** By how a message's id begins; of two that fit, the longer counts. Texts and names are those that the kit looks for. */
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

/** What the kits are run on. It streams and notifies. */
const kit = agent({ ...declaration, id: "kit", capabilities: { pushNotifications: true } });

/** For what the kit expects of agents that neither stream nor notify. */
const plain = agent({ ...declaration, id: "kit-plain", capabilities: { streaming: false, pushNotifications: false } });

/** For what it expects where an extension is required. */
const extended = agent({
  ...declaration,
  id: "kit-extended",
  extensions: [{ uri: "urn:a2a:tck:required-extension", required: true }],
});

export default [kit, plain, extended];

/** The kit of 0.3 wants tasks that stay open for more messages: whatever is not in the table is answered with a question. */
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
