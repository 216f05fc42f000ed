// Records `palaver dev` while its agent is edited, and writes docs/images/dev.svg, which the README shows. Everything in it was printed by a real run.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type RecordedLine, type RecordedPane, terminalSvg } from "./recording/terminal-svg.ts";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const MAIN = join(ROOT, "src", "cli", "main.ts");
const OUTPUT = join(ROOT, "docs", "images", "dev.svg");

const AGENT = `import { agent } from "palaver";

export default agent({
  name: "Countdown",
  description: "Counts down to zero.",
  version: "1.0.0",
  async *run(task) {
    for (let count = Number(task.text); count > 0; count--) {
      yield await task.step("say", () => \`\${count} apples\\n\`);
      await task.sleep(1000);
    }
    yield "Done.\\n";
  },
});
`;
const EDIT = ["apples", "pears"] as const;
/** The agent is edited when the client has shown this line. */
const EDIT_AFTER = "8 apples";

/** Of what the server prints, the lines that tell the story. */
const SHOWN = /^(?:Palaver|Console|palaver dev)\b/;

class Recording {
  readonly #began = performance.now();
  readonly lines: RecordedLine[] = [];

  add(text: string, kind: RecordedLine["kind"] = "output"): void {
    this.lines.push({ text, at: (performance.now() - this.#began) / 1000, kind });
  }

  /** Adds each line that the process prints. */
  follow(child: ChildProcess, shown: (line: string) => string | undefined): void {
    for (const stream of [child.stdout, child.stderr]) {
      let rest = "";
      stream?.setEncoding("utf8").on("data", (text: string) => {
        const lines = `${rest}${text}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) {
          const kept = shown(line);
          if (kept !== undefined) this.add(kept, line.startsWith("palaver dev:") ? "note" : "output");
        }
      });
    }
  }
}

async function record(folder: string): Promise<readonly RecordedPane[]> {
  const file = join(folder, "agent.ts");
  await writeFile(file, AGENT);
  await mkdir(join(folder, "node_modules"));
  await symlink(ROOT, join(folder, "node_modules", "palaver"));
  const env = { ...process.env, NO_COLOR: "1", npm_command: undefined, npm_lifecycle_event: undefined };
  const node = (args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [MAIN, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const [left, right] = [new Recording(), new Recording()];
  left.add("$ npx palaver dev agent.ts", "command");
  const port = 3000 + Math.floor(Math.random() * 20_000);
  const server = node(["dev", "agent.ts", "--no-open", "--no-types", "--quiet", "--port", String(port)]);
  try {
    left.follow(server, (line) => {
      if (!SHOWN.test(line)) return undefined;
      // The picture must not have a code that opens a console, and always has the usual port.
      return line.replaceAll(String(port), "3000").replace(/#\S+/, "#…");
    });
    while (!left.lines.some(({ text }) => text.includes("is listening"))) await once(server.stdout ?? server, "data");
    const url = `http://127.0.0.1:${port}/agents/countdown`;
    right.add("$ npx palaver send 12 --stream", "command");
    const client = node(["send", "12", "--stream", "-a", url]);
    let isEdited = false;
    right.follow(client, (line) => {
      if (!/^\d+ \w+$|^Done\.|TASK_STATE_WORKING/.test(line)) return undefined;
      if (line === EDIT_AFTER && !isEdited) {
        isEdited = true;
        setTimeout(() => void edit(file, right), 300);
      }
      return line.replace("State: TASK_STATE_", "").toLowerCase();
    });
    const [code] = (await once(client, "close")) as [number | null];
    if (code !== 0) throw new Error(`The client ended with code ${String(code)}.`);
    if (!right.lines.some(({ text }) => text.includes(EDIT[1])))
      throw new Error("The count did not go on with the new words.");
  } finally {
    const gone = once(server, "close");
    server.kill("SIGTERM");
    await gone;
  }
  return [
    { title: "the server", columns: 58, lines: settled(left.lines, right.lines) },
    { title: "a caller", columns: 42, lines: right.lines },
  ];
}

async function edit(file: string, recording: Recording): Promise<void> {
  recording.add(`   (agent.ts is edited: ${EDIT[0]} → ${EDIT[1]})`, "note");
  await writeFile(file, (await readFile(file, "utf8")).replace(EDIT[0], EDIT[1]));
}

/** What the server prints when it is stopped, after the client has ended, is not part of the story. */
function settled(lines: readonly RecordedLine[], until: readonly RecordedLine[]): readonly RecordedLine[] {
  const end = until.at(-1)?.at ?? 0;
  return lines.filter(({ at }) => at <= end + 0.5);
}

const folder = await mkdtemp(join(tmpdir(), "palaver-recording-"));
try {
  const panes = await record(folder);
  await mkdir(dirname(OUTPUT), { recursive: true });
  await writeFile(
    OUTPUT,
    terminalSvg(panes, "An agent is edited while it counts: the count goes on with the new words."),
  );
  console.log(`docs/images/dev.svg: ${panes.map(({ lines }) => lines.length).join(" and ")} lines`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
