import { execFile } from "node:child_process";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../architecture/imports.ts";

const run = promisify(execFile);

export interface TemplateProject {
  readonly template: string;
  readonly folder: string;
  /** The packed package. */
  readonly tarball: string;
}

/**
 * Installs the packages of a project. `npm`: as a user does, with Palaver from the tarball. `links`: Palaver is installed in a folder above, and the
 * other packages are those of this repository.
 */
export async function installProject({ folder, tarball }: TemplateProject, how: "npm" | "links"): Promise<void> {
  const path = join(folder, "package.json");
  const manifest = JSON.parse(await readFile(path, "utf8"));
  if (how === "npm") {
    manifest.dependencies.palaver = `file:${tarball}`;
    await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`);
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"], { cwd: folder });
    return;
  }
  const { palaver: _installed, ...packages } = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const name of Object.keys(packages)) {
    const link = join(folder, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), link);
  }
}

/** Runs `npm run check` of a project: types, lint and tests. Rejects with what was printed if one of them fails. */
export async function checkProject({ folder, template }: TemplateProject): Promise<string> {
  const PATH = [join(ROOT, "node_modules", ".bin"), process.env["PATH"]].join(delimiter);
  const { stdout } = await run("npm", ["run", "check"], {
    cwd: folder,
    env: { ...process.env, PATH, MODEL: undefined },
  }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`The project of template ${template} fails:\n${error.stdout}\n${error.stderr}`);
  });
  return stdout;
}
