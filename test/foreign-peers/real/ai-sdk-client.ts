import type { Json } from "../json.ts";
import type { Answer, Conversation, Turn } from "../peer.ts";
import type { RealClient } from "./real-peer.ts";

interface Provider {
  createA2a(): (cardUrl: string) => {
    doGenerate(options: object): Promise<Json>;
    doStream(options: object): Promise<{ readonly stream: ReadableStream<Json> }>;
  };
}

export const realAiSdkClient: RealClient = {
  name: "AI SDK provider",
  packages: { "a2a-ai-provider": "0.5.0-alpha.1" },
  async load(modules) {
    const { createA2a } = await modules.import<Provider>("a2a-ai-provider");
    return async (url): Promise<Conversation> => {
      const model = createA2a()(`${url}/.well-known/agent-card.json`);
      let contextId: string | undefined;
      return {
        async turn({ text, file, mode }: Turn): Promise<Answer> {
          const data = file && Uint8Array.from(atob(file.base64), (char) => char.charCodeAt(0));
          const attached = file && { type: "file", data, mediaType: file.mediaType, filename: file.name };
          const content = [{ type: "text", text }, ...(attached ? [attached] : [])];
          const options = { prompt: [{ role: "user", content }], providerOptions: { a2a: { contextId } } };
          if (mode === "stream") return streamed((await model.doStream(options)).stream);
          const { content: parts, response } = await model.doGenerate(options);
          contextId = response.body.contextId;
          return answerOf(parts, response.body.status?.state);
        },
      };
    };
  },
};

function answerOf(parts: readonly Json[], state: string | undefined): Answer {
  const files = parts
    .filter(({ type }) => type === "file")
    .map(({ data }) => Buffer.from(data as Uint8Array).toString("base64"));
  return { text: parts.map(({ text }) => text ?? "").join(""), files, ...(state !== undefined && { state }) };
}

async function streamed(stream: ReadableStream<Json>): Promise<Answer> {
  let text = "";
  let state: string | undefined;
  const files: string[] = [];
  for await (const part of stream) {
    if (part.type === "text-delta") text += part.delta;
    if (part.type === "file") files.push(part.data);
    if (part.type === "finish" && part.finishReason === "error") state = "failed";
  }
  return { text, files, ...(state !== undefined && { state }) };
}
