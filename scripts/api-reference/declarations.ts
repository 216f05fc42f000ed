import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "rolldown/utils";

export type Kind = "function" | "class" | "constant" | "interface" | "type";

/** One exported name of an entry point. */
export interface Declaration {
  readonly name: string;
  readonly kind: Kind;
  /** The text of the doc comment without its asterisks; empty if there is none. */
  readonly comment: string;
  /** The declaration as TypeScript: without `export declare`, without private members, with the members' comments. */
  readonly code: string;
  /** The `.d.ts` file that declares it. */
  readonly file: string;
}

type Parsed = ReturnType<typeof parseSync>;
type Statement = Parsed["program"]["body"][number];
type Export = Extract<Statement, { type: "ExportNamedDeclaration" }>;
type Import = Extract<Statement, { type: "ImportDeclaration" }>;
type Declared = NonNullable<Export["declaration"]>;
type Name = Export["specifiers"][number]["local"];

interface Source {
  readonly file: string;
  readonly text: string;
  readonly parsed: Parsed;
}

/** Files that were read, by path. */
const sources = new Map<string, Source>();

const KINDS: Readonly<Partial<Record<Declared["type"], Kind>>> = {
  TSDeclareFunction: "function",
  ClassDeclaration: "class",
  VariableDeclaration: "constant",
  TSInterfaceDeclaration: "interface",
  TSTypeAliasDeclaration: "type",
};

/**
 * Reads every name that a `.d.ts` file exports, following re-exports into other files.
 * Throws if a re-exported name is not found or an export has a form that this reader does not know.
 */
export function declarationsOf(file: string): readonly Declaration[] {
  const source = read(file);
  return source.parsed.program.body.flatMap((statement) => {
    if (statement.type === "ImportDeclaration") return [];
    if (statement.type !== "ExportNamedDeclaration") throw unknownForm(source, statement);
    return statement.specifiers.map(({ exported }) => find(source, nameOf(exported)));
  });
}

/**
 * The declarations that these use and that are not among them, in order of name, with those that they use in turn. A declaration that
 * another entry point exports is the end of such a chain.
 */
export function usedBy(
  declarations: readonly Declaration[],
  isElsewhere: (declaration: Declaration) => boolean = () => false,
): readonly Declaration[] {
  const known = new Map(declarations.map((declaration) => [originOf(declaration), declaration]));
  const exported = new Set(known.keys());
  // The iteration of a map continues with entries that are added to it.
  for (const [origin, declaration] of known) {
    if (!exported.has(origin) && isElsewhere(declaration)) continue;
    const source = read(declaration.file);
    for (const word of wordsOf(declaration.code)) {
      const used = resolve(source, word);
      if (used !== undefined && !known.has(originOf(used))) known.set(originOf(used), used);
    }
  }
  const used = [...known].filter(([origin]) => !exported.has(origin)).map(([, declaration]) => declaration);
  return used.toSorted((a, b) => a.name.localeCompare(b.name, "en"));
}

/** The words of a declaration without those of its comments and strings. */
export function wordsOf(code: string): ReadonlySet<string> {
  return new Set(code.replaceAll(/\/\*[\s\S]*?\*\/|"[^"\n]*"/g, "").match(/\b[A-Za-z_]\w*/g));
}

/** Two names of one declaration (an export under another name) have one origin. */
export function originOf({ file, code }: Declaration): string {
  return `${file}\n${code}`;
}

function find(source: Source, name: string): Declaration {
  const found = resolve(source, name);
  if (found === undefined) throw new Error(`${source.file} does not export ${name}.`);
  return found;
}

/** What a name means in a file: declared there, exported from another file, or imported. Names of packages are left out. */
function resolve(source: Source, name: string): Declaration | undefined {
  const { body } = source.parsed.program;
  const overloads = body.filter((statement) => declaredName(declaredIn(statement)) === name);
  if (overloads.length > 0) return describe(source, overloads);
  for (const statement of body) {
    const local = isExport(statement) ? exportedAs(statement, name) : importedAs(statement, name);
    if (local === undefined) continue;
    const from = "source" in statement ? statement.source : null;
    if (from !== null && !from.value.startsWith(".")) continue;
    if (from === null && local === name) continue;
    const found = resolve(from === null ? source : read(pathOf(source, from.value)), local);
    if (found !== undefined) return { ...found, name };
  }
  return undefined;
}

function exportedAs({ specifiers }: Export, name: string): string | undefined {
  const specifier = specifiers.find(({ exported }) => nameOf(exported) === name);
  return specifier === undefined ? undefined : nameOf(specifier.local);
}

function importedAs(statement: Statement, name: string): string | undefined {
  if (!isImport(statement)) return undefined;
  const specifier = statement.specifiers.find(({ local }) => local.name === name);
  return specifier?.type === "ImportSpecifier" ? nameOf(specifier.imported) : undefined;
}

function pathOf({ file }: Source, specifier: string): string {
  return join(dirname(file), specifier.replace(/\.ts$/, ".d.ts"));
}

/** Describes one name; a function has a statement for each overload. */
function describe(source: Source, overloads: readonly Statement[]): Declaration {
  const [first] = overloads;
  const declared = first === undefined ? undefined : declaredIn(first);
  if (first === undefined || declared === undefined) throw new Error(`${source.file}: nothing to describe.`);
  const kind = KINDS[declared.type];
  if (kind === undefined) throw unknownForm(source, declared);
  const code = overloads.map((statement) => {
    const comment = statement === first ? undefined : commentBefore(source, statement.start);
    return [comment?.raw, codeOf(source, statement)].filter((text) => text !== undefined).join("\n");
  });
  const comment = commentBefore(source, first.start)?.text ?? "";
  return { name: declaredName(declared) ?? "", kind, comment, code: code.join("\n"), file: source.file };
}

function codeOf({ text }: Source, statement: Statement): string {
  return text
    .slice(statement.start, statement.end)
    .replace(/^(export )?(declare )?/, "")
    .replaceAll(/^ {4}(#private|private [^;]*);\n/gm, "")
    .replaceAll(/^(?: {4})+/gm, (indent) => " ".repeat(indent.length / 2))
    .replaceAll(/\{@link (\w+)\}/g, "`$1`");
}

/** The doc comment that ends right before this position. */
function commentBefore(source: Source, start: number): { readonly raw: string; readonly text: string } | undefined {
  const comment = source.parsed.comments.findLast(({ end }) => end <= start);
  if (comment === undefined || !comment.value.startsWith("*")) return undefined;
  if (source.text.slice(comment.end, start).trim() !== "") return undefined;
  const text = comment.value
    .slice(1)
    .replaceAll(/^[ \t]*\* ?/gm, "")
    .trim();
  return { raw: source.text.slice(comment.start, comment.end), text };
}

function declaredIn(statement: Statement): Declared | undefined {
  if (isExport(statement)) return statement.declaration ?? undefined;
  return isDeclared(statement) ? statement : undefined;
}

function declaredName(declared: Declared | undefined): string | undefined {
  if (declared === undefined) return undefined;
  if (declared.type === "VariableDeclaration") {
    const id = declared.declarations[0]?.id;
    return id?.type === "Identifier" ? id.name : undefined;
  }
  return "id" in declared && declared.id?.type === "Identifier" ? declared.id.name : undefined;
}

function isDeclared(statement: Statement): statement is Statement & Declared {
  return Object.hasOwn(KINDS, statement.type);
}

function isExport(statement: Statement): statement is Export {
  return statement.type === "ExportNamedDeclaration";
}

function isImport(statement: Statement): statement is Import {
  return statement.type === "ImportDeclaration";
}

function nameOf(node: Name): string {
  return node.type === "Literal" ? node.value : node.name;
}

function read(file: string): Source {
  const known = sources.get(file);
  if (known !== undefined) return known;
  const text = readFileSync(file, "utf8");
  const parsed = parseSync(file, text);
  const [problem] = parsed.errors;
  if (problem !== undefined) throw new Error(`${file}: ${problem.message}`);
  const source = { file, text, parsed };
  sources.set(file, source);
  return source;
}

function unknownForm({ file, text }: Source, { start, end }: { readonly start: number; readonly end: number }): Error {
  return new Error(`${file}: the API reference cannot describe \`${text.slice(start, end).slice(0, 100)}\`.`);
}
