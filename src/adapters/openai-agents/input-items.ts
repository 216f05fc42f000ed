import { base64Of } from "../frameworks/base64-of.ts";
import type { ConversationMessage } from "../frameworks/conversation.ts";
import type { UserContent } from "../models/model-contract.ts";

/** A message in the form of the OpenAI Agents SDK. */
export type InputItem =
  | { readonly role: "user"; readonly content: readonly InputContent[] }
  | {
      readonly role: "assistant";
      readonly status: "completed";
      readonly content: readonly { readonly type: "output_text"; readonly text: string }[];
    };

type InputContent =
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "input_image"; readonly image: string }
  | { readonly type: "input_file"; readonly file: string | { readonly url: string }; readonly filename?: string };

/** The conversation as input of the SDK. */
export function inputItems(conversation: readonly ConversationMessage[]): readonly InputItem[] {
  return conversation.map((message): InputItem => {
    if (message.role === "user") return { role: "user", content: message.content.map(inputContent) };
    const texts = message.content.flatMap((part) => (part.type === "text" ? [part.text] : []));
    return {
      role: "assistant",
      status: "completed",
      content: texts.map((text) => ({ type: "output_text", text })),
    };
  });
}

function inputContent(part: UserContent): InputContent {
  if (part.type === "text") return { type: "input_text", text: part.text };
  const { data, mediaType, filename } = part;
  const address = data.type === "data" ? `data:${mediaType};base64,${base64Of(data.data)}` : data.url.href;
  if (mediaType.startsWith("image/")) return { type: "input_image", image: address };
  return {
    type: "input_file",
    file: data.type === "data" ? address : { url: address },
    ...(filename !== undefined && { filename }),
  };
}
