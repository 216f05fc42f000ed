import { expect, it } from "vitest";
import type { ArtifactId, ContextId, TaskId } from "../../protocol/ids.ts";
import type { Part } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import { resultOfTask } from "./content.ts";

function taskWith(parts: readonly Part[], state: "completed" | "failed" = "completed"): Task {
  return {
    // Safe casts: ids are opaque strings.
    id: "t" as TaskId,
    contextId: "c" as ContextId,
    status: { state },
    artifacts: [{ artifactId: "a" as ArtifactId, name: "result", parts }],
  };
}

it("makes content blocks of texts, files, images, sound and URLs", () => {
  const { content } = resultOfTask(
    taskWith([
      { text: "Hello" },
      { text: "a,b", filename: "table.csv", mediaType: "text/csv" },
      { raw: "aGk=", mediaType: "image/png" },
      { raw: "aGk=", mediaType: "audio/wav" },
      { raw: "aGk=", mediaType: "application/pdf", filename: "a b.pdf" },
      { url: "https://files.example/x.pdf", filename: "x.pdf", mediaType: "application/pdf" },
    ]),
  );
  expect(content).toEqual([
    { type: "text", text: "Hello" },
    { type: "resource", resource: { uri: "a2a:table.csv", mimeType: "text/csv", text: "a,b" } },
    { type: "image", data: "aGk=", mimeType: "image/png" },
    { type: "audio", data: "aGk=", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "a2a:a%20b.pdf", mimeType: "application/pdf", blob: "aGk=" } },
    { type: "resource_link", uri: "https://files.example/x.pdf", name: "x.pdf", mimeType: "application/pdf" },
  ]);
});

it("makes structured content of data: one object as it is, several with the names of their artifacts", () => {
  const one = resultOfTask(taskWith([{ data: { sum: 3 } }]));
  expect(one).toMatchObject({ structuredContent: { sum: 3 }, content: [{ type: "text", text: '{"sum":3}' }] });
  expect(one.isError).toBeUndefined();
  expect(resultOfTask(taskWith([{ data: 1 }, { data: 2 }])).structuredContent).toEqual({
    artifacts: [
      { name: "result", data: 1 },
      { name: "result", data: 2 },
    ],
  });
});

it("is an error for every state but completed, and names the task", () => {
  expect(resultOfTask(taskWith([], "failed"))).toEqual({
    isError: true,
    content: [{ type: "text", text: "The task is failed." }],
    _meta: { "a2a/taskId": "t", "a2a/contextId": "c" },
  });
});
