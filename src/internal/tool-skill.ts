/** What is known of a tool, for a card. */
export interface DescribedTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly annotations?:
    | {
        readonly title?: string | undefined;
        readonly readOnlyHint?: boolean | undefined;
        readonly destructiveHint?: boolean | undefined;
      }
    | undefined;
}

/** The members of a skill in a card. */
export interface ToolSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

const MAX_NAME = 100;
const MAX_DESCRIPTION = 4000;

/** Words that are not written with one capital letter. */
const SPELLINGS: Readonly<Record<string, string>> = {
  a2a: "A2A",
  ai: "AI",
  api: "API",
  csv: "CSV",
  db: "DB",
  dns: "DNS",
  github: "GitHub",
  gitlab: "GitLab",
  html: "HTML",
  http: "HTTP",
  id: "ID",
  ids: "IDs",
  ip: "IP",
  json: "JSON",
  llm: "LLM",
  mcp: "MCP",
  pdf: "PDF",
  pr: "PR",
  prs: "PRs",
  sql: "SQL",
  ui: "UI",
  uri: "URI",
  url: "URL",
  xml: "XML",
};

/** Categories, and the words of a tool's name that belong to each. */
const CATEGORIES: Readonly<Record<string, readonly string[]>> = {
  search: ["search", "find", "query", "lookup", "research"],
  files: ["file", "files", "folder", "directory", "dir", "path", "upload", "download"],
  web: ["web", "http", "url", "fetch", "browse", "browser", "page", "crawl", "scrape"],
  messaging: ["message", "messages", "send", "mail", "email", "chat", "notify", "slack", "sms"],
  code: ["git", "github", "gitlab", "repo", "commit", "branch", "pr", "prs", "issue", "issues", "code"],
  data: ["sql", "db", "database", "table", "row", "rows", "csv", "json", "record", "records"],
  memory: ["memory", "memories", "remember", "recall", "note", "notes"],
  scheduling: ["schedule", "schedules", "calendar", "cron", "reminder", "event", "events", "booking"],
  agents: ["agent", "agents", "a2a", "delegate"],
  media: ["image", "images", "picture", "audio", "video", "photo", "speech"],
  finance: ["pay", "payment", "payments", "invoice", "credit", "credits", "price", "billing"],
  weather: ["weather", "forecast"],
};

/** The skill of a tool: its name for people, its description, and tags by category. */
export function toolSkill(tool: DescribedTool): ToolSkill {
  const { name, annotations } = tool;
  const shown = oneLine(tool.title ?? annotations?.title ?? "") || humanisedName(name);
  return {
    id: name,
    name: shown.slice(0, MAX_NAME),
    description: withoutControls(tool.description ?? "").slice(0, MAX_DESCRIPTION) || `The tool ${name}.`,
    tags: toolTags(tool),
  };
}

/** The name of a tool for people: `github_list_prs` and `github.listPRs` become `GitHub List PRs`. */
function humanisedName(name: string): string {
  const words = wordsOf(name).map((word) => SPELLINGS[word] ?? word.charAt(0).toUpperCase() + word.slice(1));
  return words.join(" ") || name;
}

/** The categories of a tool by the words of its name; `general` if there are none. Also `read-only` and `destructive`, if the tool says so. */
function toolTags({ name, annotations }: DescribedTool): readonly string[] {
  const words = new Set(wordsOf(name));
  const found = Object.entries(CATEGORIES).flatMap(([category, members]) =>
    members.some((word) => words.has(word)) ? category : [],
  );
  return [
    ...(found.length > 0 ? found : ["general"]),
    ...(annotations?.readOnlyHint === true ? ["read-only"] : []),
    ...(annotations?.destructiveHint === true && annotations.readOnlyHint !== true ? ["destructive"] : []),
  ];
}

function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]{2,})([A-Z][a-z])/g, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

function oneLine(text: string): string {
  return withoutControls(text).replaceAll(/\s+/g, " ").trim();
}

/** Without the characters that could change what a terminal or a page shows. Line breaks stay. */
function withoutControls(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\p{Cf}]/gu, "");
}
