import type { WireCall } from "./wire-log.ts";

/** How a call can be repeated elsewhere. */
export const COPY_KINDS = [
  ["curl", "curl"],
  ["cli", "CLI"],
  ["typescript", "TypeScript"],
] as const;

export type CopyKind = (typeof COPY_KINDS)[number][0];

/** A call as a command or a program. `agent`: the URL of the agent. */
export function copyOf(call: WireCall, kind: CopyKind, agent: string): string {
  if (kind === "curl") return curl(call);
  const meaning = meaningOf(call);
  return kind === "cli" ? commandLine(meaning, agent) : typescript(meaning, agent);
}

/** Quotes a word for a POSIX shell. */
function shell(word: string): string {
  return /^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function curl({ method, url, headers, body }: WireCall): string {
  const lines = [`curl -sN ${method === "GET" || method === "POST" ? "" : `-X ${method} `}${shell(url)}`];
  for (const [name, value] of Object.entries(headers)) {
    // The credential is a variable of the shell.
    lines.push(value === "$CREDENTIAL" ? `-H "${name}: $CREDENTIAL"` : `-H ${shell(`${name}: ${value}`)}`);
  }
  if (body !== "") lines.push(`-d ${shell(body)}`);
  return lines.join(" \\\n  ");
}

/** What a call asks, independent of its dialect. */
type Meaning =
  | {
      readonly kind: "send";
      readonly text: string;
      readonly data: unknown;
      readonly contextId: string;
      readonly taskId: string;
    }
  | { readonly kind: "get" | "cancel" | "subscribe"; readonly taskId: string }
  | { readonly kind: "list" | "card" };

type Json = Readonly<Record<string, unknown>>;

function record(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function meaningOf({ url, body }: WireCall): Meaning {
  const json = parsed(body);
  const method = typeof json["method"] === "string" ? json["method"] : "";
  const params = method === "" ? json : record(json["params"]);
  const message = record(params["message"]);
  if ("message" in params) {
    const parts = (message["parts"] ?? message["content"]) as readonly Json[] | undefined;
    const words = (parts ?? []).map((part) => (typeof part["text"] === "string" ? part["text"] : "")).join("");
    const data = (parts ?? []).find((part) => part["data"] !== undefined)?.["data"];
    return {
      kind: "send",
      text: words,
      data,
      contextId: text(message["contextId"]),
      taskId: text(message["taskId"]),
    };
  }
  const taskId = text(params["id"]) || (/\/tasks\/([^/:?]+)/.exec(url)?.[1] ?? "");
  if (taskId === "") return { kind: url.includes("/.well-known/") ? "card" : "list" };
  if (/cancel/i.test(method) || url.includes(":cancel")) return { kind: "cancel", taskId };
  return { kind: /subscribe/i.test(method) || url.includes(":subscribe") ? "subscribe" : "get", taskId };
}

function parsed(body: string): Json {
  try {
    return record(JSON.parse(body));
  } catch {
    return {};
  }
}

function commandLine(meaning: Meaning, agent: string): string {
  const at = `-a ${shell(agent)}`;
  switch (meaning.kind) {
    case "send": {
      const content =
        meaning.data === undefined ? shell(meaning.text) : `--data ${shell(JSON.stringify(meaning.data))}`;
      const context = meaning.contextId === "" ? "" : ` --context-id ${shell(meaning.contextId)}`;
      const task = meaning.taskId === "" ? "" : ` --task-id ${shell(meaning.taskId)}`;
      return `palaver send ${content} ${at}${context}${task} --stream`;
    }
    case "card":
      return `palaver card get ${at}`;
    case "list":
      return `palaver task list ${at}`;
    default:
      return `palaver task ${meaning.kind} ${shell(meaning.taskId)} ${at}`;
  }
}

function typescript(meaning: Meaning, agent: string): string {
  const start = `import { connect } from "palaver/client";\n\nconst agent = await connect(${JSON.stringify(agent)});\n`;
  switch (meaning.kind) {
    case "send": {
      const options = [
        ...(meaning.contextId === "" ? [] : [`contextId: ${JSON.stringify(meaning.contextId)}`]),
        ...(meaning.taskId === "" ? [] : [`taskId: ${JSON.stringify(meaning.taskId)}`]),
      ];
      const content =
        meaning.data === undefined ? JSON.stringify(meaning.text) : `{ data: ${JSON.stringify(meaning.data)} }`;
      const rest = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
      return `${start}for await (const event of agent.stream(${content}${rest})) console.log(event);\n`;
    }
    case "card":
      return `${start}console.log(agent.card);\n`;
    case "list":
      return `${start}for await (const task of agent.tasks()) console.log(task);\n`;
    case "subscribe":
      return `${start}for await (const event of agent.task(${JSON.stringify(meaning.taskId)}).subscribe()) console.log(event);\n`;
    default:
      return `${start}console.log(await agent.task(${JSON.stringify(meaning.taskId)}).${meaning.kind}());\n`;
  }
}
