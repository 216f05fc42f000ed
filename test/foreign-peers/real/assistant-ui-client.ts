import { randomUUID } from "node:crypto";
import { elementsOf, type Json } from "../json.ts";
import type { Answer, Conversation, Turn } from "../peer.ts";
import type { RealClient } from "./real-peer.ts";

interface Client {
  sendMessage(message: object): Promise<Json>;
}

interface Core {
  append(message: object): Promise<void>;
  cancel(): Promise<void>;
  getMessages(): readonly Json[];
  getArtifacts(): readonly Json[];
  getTask(): Json;
}

const DIST = "node_modules/@assistant-ui/react-a2a/dist";

/** The client and the runtime, without the React hooks. */
export const realAssistantUiClient: RealClient = {
  name: "assistant-ui",
  packages: { "@assistant-ui/react-a2a": "0.2.32", "@assistant-ui/tap": "0.9.18", react: "19.2.0" },
  async load(modules) {
    const { A2AClient } = await modules.import<{ readonly A2AClient: new (options: object) => Client }>(
      `${DIST}/A2AClient.js`,
    );
    const { A2AThreadRuntimeCore } = await modules.import<{
      readonly A2AThreadRuntimeCore: new (options: object) => Core;
    }>(`${DIST}/A2AThreadRuntimeCore.js`);
    return async (url): Promise<Conversation> => {
      const client = new A2AClient({ baseUrl: url });
      const updates = new EventTarget();
      const notifyUpdate = () => updates.dispatchEvent(new Event("update"));
      const core = new A2AThreadRuntimeCore({ client, notifyUpdate });
      let waiting: { readonly taskId: string; readonly contextId: string } | undefined;
      return {
        async turn({ text, file, mode }: Turn): Promise<Answer> {
          if (mode === "send") {
            const attached = file && { raw: file.base64, mediaType: file.mediaType, filename: file.name };
            const parts = [{ text }, ...(attached ? [attached] : [])];
            const sent = await client.sendMessage({ messageId: randomUUID(), role: "user", parts, ...waiting });
            const state: string | undefined = sent.status?.state;
            if (state === "input_required") waiting = { taskId: sent.id, contextId: sent.contextId };
            const artifacts = elementsOf(sent.artifacts).flatMap(({ parts: all }) => all);
            return answerOf(
              [...elementsOf(sent.parts), ...elementsOf(sent.status?.message?.parts), ...artifacts],
              state,
            );
          }
          await core.append({ role: "user", content: [{ type: "text", text }] });
          const shown = elementsOf(core.getMessages().at(-1)?.content);
          return answerOf(
            [...shown, ...core.getArtifacts().flatMap(({ parts }) => parts)],
            core.getTask()?.status.state,
          );
        },
        async cancel(text) {
          const known = new Promise<void>((resolve) => {
            updates.addEventListener("update", () => core.getTask() !== undefined && resolve());
          });
          const running = core.append({ role: "user", content: [{ type: "text", text }] }).catch(() => {});
          await known;
          await core.cancel();
          await running;
          return core.getTask().status.state;
        },
      };
    };
  },
};

function answerOf(parts: readonly Json[], state: string | undefined): Answer {
  const files = parts.filter(({ raw }) => raw !== undefined).map(({ raw }) => String(raw));
  return { text: parts.map(({ text }) => text ?? "").join(""), files, ...(state !== undefined && { state }) };
}
