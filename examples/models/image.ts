import { modelAgent, textOfMessage } from "palaver/models";
import { modelOr } from "./model.ts";

/** Looks at images and draws: files of the message go to the model, files of the model become artifacts. */
export default modelAgent({
  name: "Painter",
  description: "Describes the images that you send, and draws one.",
  version: "1.0.0",
  inputModes: ["text/plain", "image/png", "image/jpeg"],
  outputModes: ["text/plain", "image/svg+xml", "image/png"],
  instructions: "Describe the images of the user in one sentence, then draw what the user asks for.",
  // The model sees the images of earlier messages again.
  history: { files: "inline" },
  model: modelOr((messages) => {
    const last = messages.at(-1);
    const files = last?.role === "user" ? last.content.flatMap((part) => (part.type === "file" ? part : [])) : [];
    const seen = files.map(({ mediaType, filename }) => `${filename ?? "an image"} (${mediaType})`).join(", ");
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="200" height="40"><text x="10" y="25">${escaped(textOfMessage(last))}</text></svg>`;
    return {
      text: seen === "" ? "You sent no image. Here is one." : `I see ${seen}. Here is another one.`,
      files: [{ mediaType: "image/svg+xml", raw: Buffer.from(svg).toString("base64") }],
    };
  }),
});

function escaped(text: string): string {
  return text.slice(0, 40).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
