import { createHash } from "node:crypto";
import { type Agent, agent, type ReceivedFile } from "../engine/agent/agent.ts";

/** Receives files and returns files: text files in capitals, and a list of checksums. */
export const files: Agent = agent({
  id: "files",
  name: "Files",
  description: "Returns your text files in capitals, and a file with the SHA-256 checksums of all your files.",
  version: "1.0.0",
  inputModes: ["text/plain", "application/octet-stream", "*/*"],
  outputModes: ["text/plain", "application/octet-stream", "*/*"],
  skills: [
    {
      id: "capitals-and-checksums",
      name: "Capitals and checksums",
      description: "Send one or more files inline. Files by reference are not fetched.",
      tags: ["demo", "files"],
      examples: ["(attach a text file)"],
    },
  ],
  async run(task) {
    if (task.files.length === 0) return task.reject("Attach at least one file, please.");
    const checksums: string[] = [];
    for (const [index, file] of task.files.entries()) {
      const name = file.name ?? `file-${index + 1}`;
      if (file.bytes === undefined)
        return task.reject(`“${name}” is only a reference. Send its content inline, please.`);
      checksums.push(`${createHash("sha256").update(file.bytes).digest("hex")}  ${name}\n`);
      const text = textIn(file);
      if (text === undefined) continue;
      const bytes = new TextEncoder().encode(text.toUpperCase());
      await task
        .artifact(`capitals-${index + 1}`)
        .end({ file: { name, mediaType: file.mediaType ?? "text/plain", bytes } });
    }
    const list = new TextEncoder().encode(checksums.join(""));
    await task.artifact("checksums").end({ file: { name: "SHA256SUMS", mediaType: "text/plain", bytes: list } });
  },
});

/** The file's text; `undefined` if it is not a text file. */
function textIn(file: ReceivedFile): string | undefined {
  const maybeText = file.mediaType === undefined || file.mediaType.startsWith("text/");
  if (!maybeText || file.bytes === undefined) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file.bytes);
  } catch {
    return undefined; // Not UTF-8.
  }
}
