import type { Output, ServerOptions, TaskContext } from "palaver";
import { expect, it } from "vitest";
import { at, post } from "../exchange.ts";
import { idsOf, textPart } from "../kinds.ts";
import { ID, TIME } from "../matchers.ts";
import { resultOf, rpcRequest } from "../rpc.ts";
import { serveScript, type TestServer } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

const PNG = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const FILE = { name: "input_image.png", mimeType: "image/png", bytes: PNG.toString("base64") };
const UPLOAD = rpcRequest("req-007", "message/send", {
  message: {
    role: "user",
    parts: [textPart("Analyze this image and highlight any faces."), { kind: "file", file: FILE }],
    messageId: "6dbc13b5-bd57-4c2b-b503-24e381b6c8d6",
  },
});

const serveArtist = (output: Output, options: ServerOptions): Promise<TestServer> =>
  serveScript(
    async (task) => task.artifact("processed_image_with_faces.png").end(output),
    { inputModes: ["text/plain", "image/png"], outputModes: ["image/png"] },
    options,
  );

it(
  seed.example(
    "9.6. File Exchange › 1 upload",
    "the agent receives the bytes, the name and the type; the history contains them",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      let seen: unknown;
      const script = async ({ files }: Pick<TaskContext, "files">) => {
        seen = files.map(({ bytes, ...rest }) => ({ ...rest, bytes: Buffer.from(bytes ?? []).toString("base64") }));
      };
      await using testServer = await serveScript(script, {}, options);
      const task = resultOf(await post(testServer.url, UPLOAD), "req-007");
      expect(seen).toEqual([{ name: FILE.name, mediaType: FILE.mimeType, bytes: FILE.bytes, url: undefined }]);
      expect(at(task, "history.0.parts.1")).toEqual({ kind: "file", file: FILE });
    }
  },
);

/** The expected task, without its history, when the artifact contains this file. */
function answerWith(task: unknown, file: object): object {
  const { taskId, contextId } = idsOf(task);
  return {
    kind: "task",
    id: taskId,
    contextId,
    status: { state: "completed", timestamp: TIME },
    artifacts: [{ artifactId: ID, name: "processed_image_with_faces.png", parts: [{ kind: "file", file }] }],
    history: expect.anything(),
  };
}

it(seed.example("9.6. File Exchange › 2 download by reference", "an artifact may refer to a file by URL"), async () => {
  for (const options of EITHER_WAY) {
    const uri = "https://storage.example.com/processed/task-bbb/output.png?token=xyz";
    const output = { file: { url: uri, name: "output.png", mediaType: "image/png" } };
    await using testServer = await serveArtist(output, options);
    const task = resultOf(await post(testServer.url, UPLOAD), "req-007");
    expect(task).toEqual(answerWith(task, { name: "output.png", mimeType: "image/png", uri }));
  }
});

it(seed.example("9.6. File Exchange › 2 download in place", "an artifact may contain a file in base64"), async () => {
  for (const options of EITHER_WAY) {
    const output = { file: { bytes: new Uint8Array(PNG), name: "output.png", mediaType: "image/png" } };
    await using testServer = await serveArtist(output, options);
    const task = resultOf(await post(testServer.url, UPLOAD), "req-007");
    expect(task).toEqual(answerWith(task, { ...FILE, name: "output.png" }));
  }
});

const WANTED = {
  mimeType: "application/json",
  schema: {
    type: "array",
    items: {
      type: "object",
      properties: { ticketNumber: { type: "string" }, description: { type: "string" } },
    },
  },
};
const TICKETS = [
  { ticketNumber: "REQ12312", description: "request for VPN access" },
  { ticketNumber: "REQ23422", description: "Add to DL - team-gcp-onboarding" },
];
const LIST = rpcRequest(9, "message/send", {
  message: {
    role: "user",
    parts: [{ ...textPart("Show me a list of my open IT tickets"), metadata: WANTED }],
    messageId: "85b26db5-ffbb-4278-a5da-a7b09dea1b47",
  },
  metadata: {},
});

it(
  seed.example(
    "9.7. Structured Data Exchange › 1 request",
    "the metadata of a part reaches the agent and is kept in the history",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      let seen: unknown;
      const script = async ({ message }: Pick<TaskContext, "message">) => {
        seen = message.parts[0]?.metadata;
      };
      await using testServer = await serveScript(script, {}, options);
      const task = resultOf(await post(testServer.url, LIST), 9);
      expect(seen).toEqual(WANTED);
      expect(at(task, "history.0.parts.0.metadata")).toEqual(WANTED);
    }
  },
);

it(seed.example("9.7. Structured Data Exchange › 2 response", "JSON may be sent as text"), async () => {
  for (const options of EITHER_WAY) {
    await using testServer = await serveScript(async () => JSON.stringify(TICKETS), {}, options);
    const task = resultOf(await post(testServer.url, LIST), 9);
    expect(at(task, "status")).toEqual({ state: "completed", timestamp: TIME });
    expect(at(task, "artifacts")).toEqual([
      { artifactId: ID, name: "result", parts: [textPart(JSON.stringify(TICKETS))] },
    ]);
  }
});

it(
  seed.example(
    "9.7. Structured Data Exchange › a list from the agent",
    "0.2 has no list as data: the list is sent as JSON text, as in the example, and read back as data",
  ),
  async () => {
    let seen: unknown;
    await using testServer = await serveScript(
      async (task) => {
        seen = task.message.parts[0]?.data;
        await task.artifact("tickets").end([{ data: TICKETS }]);
      },
      { outputModes: ["*/*"], inputModes: ["*/*"] },
      { assumeVersion: "0.2" },
    );
    const task = resultOf(await post(testServer.url, LIST), 9);
    const [part] = [at(task, "artifacts.0.parts.0")];
    expect(part).toMatchObject(textPart(JSON.stringify(TICKETS)));
    const message = { kind: "message", role: "user", parts: [part], messageId: "m-1" };
    await post(testServer.url, rpcRequest(1, "message/send", { message }));
    expect(seen).toEqual(TICKETS);
    const bare = { ...message, parts: [{ kind: "data", data: TICKETS }], messageId: "m-2" };
    await post(testServer.url, rpcRequest(2, "message/send", { message: bare }));
    expect(seen).toEqual(TICKETS);
  },
);
