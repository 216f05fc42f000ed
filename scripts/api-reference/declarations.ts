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

function find(source: Source, name: string): Declaration {
  const { body } = source.parsed.program;
  const overloads = body.filter((statement) => isExport(statement) && declaredName(statement.declaration) === name);
  if (overloads.length > 0) return describe(source, overloads.filter(isExport));
  for (const statement of body) {
    const local = isExport(statement) ? exportedAs(statement, name) : importedAs(statement, name);
    if (local === undefined) continue;
    const from = "source" in statement ? statement.source : null;
    const found = find(from === null ? source : read(pathOf(source, from.value)), local);
    return { ...found, name };
  }
  throw new Error(`${source.file} does not export ${name}.`);
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
function describe(source: Source, overloads: readonly Export[]): Declaration {
  const [first] = overloads;
  const declared = first?.declaration;
  if (!declared) throw new Error(`${source.file}: nothing to describe.`);
  const kind = KINDS[declared.type];
  if (kind === undefined) throw unknownForm(source, declared);
  const code = overloads.map((statement) => {
    const comment = statement === first ? undefined : commentBefore(source, statement.start);
    return [comment?.raw, codeOf(source, statement)].filter((text) => text !== undefined).join("\n");
  });
  const comment = commentBefore(source, first.start)?.text ?? "";
  return { name: declaredName(declared) ?? "", kind, comment, code: code.join("\n") };
}

function codeOf({ text }: Source, statement: Export): string {
  return text
    .slice(statement.start, statement.end)
    .replace(/^export (declare )?/, "")
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

function declaredName(declared: Export["declaration"]): string | undefined {
  if (declared === null) return undefined;
  if (declared.type === "VariableDeclaration") {
    const id = declared.declarations[0]?.id;
    return id?.type === "Identifier" ? id.name : undefined;
  }
  return "id" in declared && declared.id?.type === "Identifier" ? declared.id.name : undefined;
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
  const text = readFileSync(file, "utf8");
  const parsed = parseSync(file, text);
  const [problem] = parsed.errors;
  if (problem !== undefined) throw new Error(`${file}: ${problem.message}`);
  return { file, text, parsed };
}

function unknownForm({ file, text }: Source, { start, end }: { readonly start: number; readonly end: number }): Error {
  return new Error(`${file}: the API reference cannot describe \`${text.slice(start, end).slice(0, 100)}\`.`);
}
