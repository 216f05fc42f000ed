import type { Declaration, Kind } from "./declarations.ts";

export interface EntryPoint {
  /** What a program imports: `palaver/client`. */
  readonly specifier: string;
  /** One sentence: what the entry point is for. */
  readonly purpose: string;
}

const SECTIONS: Readonly<Record<Kind, string>> = {
  function: "Functions",
  class: "Classes",
  constant: "Constants",
  interface: "Interfaces",
  type: "Types",
};

const NOTICE = "<!-- Generated from the doc comments by `npm run api-reference -- --write`. Do not edit. -->";

/** Writes the page of one entry point. Names are sorted, so that moving an export changes nothing. */
export function pageOf({ specifier, purpose }: EntryPoint, declarations: readonly Declaration[]): string {
  const sorted = declarations.toSorted((a, b) => a.name.localeCompare(b.name, "en"));
  const anchors = new Map(sorted.map((declaration) => [declaration.name, anchorOf(declaration)]));
  const sections = sectionsOf(sorted);
  return `${[
    NOTICE,
    `# \`${specifier}\``,
    purpose,
    ...sections.map(([kind, members]) => `**${SECTIONS[kind]}:** ${members.map(linkTo).join(", ")}`),
    ...sections.flatMap(([kind, members]) => [
      `## ${SECTIONS[kind]}`,
      ...members.map((member) => describe(member, anchors)),
    ]),
  ].join("\n\n")}\n`;
}

function sectionsOf(declarations: readonly Declaration[]): readonly (readonly [Kind, readonly Declaration[]])[] {
  const kinds = Object.keys(SECTIONS) as readonly Kind[];
  return kinds
    .map((kind) => [kind, declarations.filter((declaration) => declaration.kind === kind)] as const)
    .filter(([, members]) => members.length > 0);
}

function describe(declaration: Declaration, anchors: ReadonlyMap<string, string>): string {
  const { name, kind, comment, code } = declaration;
  const words = new Set(withoutText(code).match(/\w+/g));
  const used = [...anchors].filter(([other]) => other !== name && words.has(other));
  return [
    `### ${kind} \`${name}\``,
    withLinks(comment, anchors),
    `\`\`\`ts\n${code}\n\`\`\``,
    used.length === 0 ? "" : `See ${used.map(([other, anchor]) => `[\`${other}\`](#${anchor})`).join(", ")}.`,
  ]
    .filter((block) => block !== "")
    .join("\n\n");
}

function withLinks(comment: string, anchors: ReadonlyMap<string, string>): string {
  return comment.replaceAll(/\{@link (\w+)\}/g, (_, name: string) => {
    const anchor = anchors.get(name);
    return anchor === undefined ? `\`${name}\`` : `[\`${name}\`](#${anchor})`;
  });
}

/** Code without comments and strings, whose words are not names of types. */
function withoutText(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\/|"[^"\n]*"/g, "");
}

function linkTo(declaration: Declaration): string {
  return `[\`${declaration.name}\`](#${anchorOf(declaration)})`;
}

/** The kind is part of the heading, because anchors ignore case: `agent` is a function and `Agent` an interface. */
function anchorOf({ kind, name }: Declaration): string {
  return `${kind}-${name.toLowerCase()}`;
}
