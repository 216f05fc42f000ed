import { type Declaration, type Kind, wordsOf } from "./declarations.ts";

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

export interface EntryContents {
  readonly exported: readonly Declaration[];
  /** Declarations that the exported ones use and that no entry point exports. */
  readonly used: readonly Declaration[];
  /** Links to declarations of other pages, by name: `palaver.md#interface-server`. */
  readonly elsewhere: ReadonlyMap<string, string>;
}

const USED = "Declarations that the ones above use. No entry point exports them.";

/** Writes the page of one entry point. Names are sorted, so that moving an export changes nothing. */
export function pageOf({ specifier, purpose }: EntryPoint, { exported, used, elsewhere }: EntryContents): string {
  const sorted = exported.toSorted((a, b) => a.name.localeCompare(b.name, "en"));
  const own = [...used, ...sorted].map((declaration) => [declaration.name, `#${anchorOf(declaration)}`] as const);
  // Later entries win: an exported name hides a used one.
  const links = new Map([...elsewhere, ...own]);
  const sections = sectionsOf(sorted);
  return `${[
    NOTICE,
    `# \`${specifier}\``,
    purpose,
    ...sections.map(([kind, members]) => `**${SECTIONS[kind]}:** ${members.map(linkTo).join(", ")}`),
    ...sections.flatMap(([kind, members]) => [
      `## ${SECTIONS[kind]}`,
      ...members.map((member) => describe(member, links)),
    ]),
    ...(used.length === 0 ? [] : ["## Not exported", USED]),
    ...used.map((member) => describe(member, links)),
  ].join("\n\n")}\n`;
}

function sectionsOf(declarations: readonly Declaration[]): readonly (readonly [Kind, readonly Declaration[]])[] {
  const kinds = Object.keys(SECTIONS) as readonly Kind[];
  return kinds
    .map((kind) => [kind, declarations.filter((declaration) => declaration.kind === kind)] as const)
    .filter(([, members]) => members.length > 0);
}

function describe(declaration: Declaration, links: ReadonlyMap<string, string>): string {
  const { name, kind, comment, code } = declaration;
  const words = wordsOf(code);
  const used = [...links].filter(([other]) => other !== name && words.has(other));
  return [
    `### ${kind} \`${name}\``,
    withLinks(comment, links),
    `\`\`\`ts\n${code}\n\`\`\``,
    used.length === 0 ? "" : `See ${used.map(([other, link]) => `[\`${other}\`](${link})`).join(", ")}.`,
  ]
    .filter((block) => block !== "")
    .join("\n\n");
}

function withLinks(comment: string, links: ReadonlyMap<string, string>): string {
  return comment.replaceAll(/\{@link (\w+)\}/g, (_, name: string) => {
    const link = links.get(name);
    return link === undefined ? `\`${name}\`` : `[\`${name}\`](${link})`;
  });
}

function linkTo(declaration: Declaration): string {
  return `[\`${declaration.name}\`](#${anchorOf(declaration)})`;
}

/** The anchor of a heading. The kind is part of the heading, because anchors ignore case: `agent` is a function and `Agent` an interface. */
export function anchorOf({ kind, name }: Declaration): string {
  return `${kind}-${name.toLowerCase()}`;
}
