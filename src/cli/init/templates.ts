import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the templates, in a clone and in the package; its README says what a template has. */
const FOLDER = fileURLToPath(new URL("../../../templates/", import.meta.url));
/** Files of all templates. */
const SHARED = "shared";
const DESCRIPTION = "template.json";

/** The content of `template.json`. */
export interface Template {
  /** The name of its folder. */
  readonly name: string;
  readonly description: string;
  readonly order: number;
  /** A template whose files it gets too. */
  readonly extends?: string;
  readonly scripts: { readonly start: string; readonly dev: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  /** Commands to try after `npm start`. */
  readonly next?: readonly string[];
}

/** All templates, in the order of their list. */
export function templates(): readonly Template[] {
  return readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== SHARED)
    .map(({ name }) => {
      // Safe cast: the files are part of this package, and a test checks them.
      const description = JSON.parse(readFileSync(join(FOLDER, name, DESCRIPTION), "utf8")) as Omit<Template, "name">;
      return { ...description, name };
    })
    .toSorted((a, b) => a.order - b.order);
}

/** What the files of a new project depend on. */
export interface Project {
  /** A valid npm package name. */
  readonly name: string;
  /** The version of this package. */
  readonly palaver: string;
}

/** Development packages of every project. */
const TOOLS = { "@biomejs/biome": "^2.6.6", "@types/node": "^24.19.2", typescript: "^7.0.2" };

/** The files of a new project by name, `package.json` first. */
export function projectFiles(template: Template, project: Project): ReadonlyMap<string, string> {
  const folders = [SHARED, ...(template.extends === undefined ? [] : [template.extends]), template.name];
  const files = new Map([["package.json", manifest(template, project)]]);
  for (const folder of folders) {
    for (const file of readdirSync(join(FOLDER, folder)).toSorted()) {
      if (file === DESCRIPTION) continue;
      const content = readFileSync(join(FOLDER, folder, file), "utf8");
      files.set(projectName(file), content.replaceAll("{{name}}", project.name));
    }
  }
  return files;
}

/** `dot-gitignore` becomes `.gitignore`, `biome.json.template` becomes `biome.json`. */
function projectName(file: string): string {
  return file.replace(/^dot-/, ".").replace(/\.template$/, "");
}

function manifest({ scripts, dependencies, devDependencies }: Template, { name, palaver }: Project): string {
  const content = {
    name,
    version: "0.0.1",
    private: true,
    type: "module",
    engines: { node: ">=24" },
    scripts: {
      ...scripts,
      test: "node --test",
      typecheck: "tsc",
      lint: "biome check",
      format: "biome check --write",
      check: "npm run typecheck && npm run lint && npm test",
    },
    dependencies: sorted({ ...dependencies, "@bufbuild/protobuf": "^2.17.0", palaver: `^${palaver}` }),
    devDependencies: sorted({ ...TOOLS, ...devDependencies }),
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

function sorted(packages: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
