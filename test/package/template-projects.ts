import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
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
 * Installs the packed package into a folder. `npm`: as a user does. `links`: unpacks it, and links its dependencies, which are those of this repository; its
 * optional peers are not installed either way.
 */
export async function installTarball(
  { folder, tarball }: Omit<TemplateProject, "template">,
  how: "npm" | "links",
): Promise<void> {
  if (how === "npm") {
    await run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", tarball], {
      cwd: folder,
    });
    return;
  }
  const installed = join(folder, "node_modules", "palaver");
  await mkdir(installed, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
  const manifest: Readonly<Record<"dependencies" | "bin", Readonly<Record<string, string>>>> = JSON.parse(
    await readFile(join(installed, "package.json"), "utf8"),
  );
  for (const name of Object.keys(manifest.dependencies)) await linkPackage(folder, name);
  await mkdir(join(folder, "node_modules", ".bin"));
  for (const [name, path] of Object.entries(manifest.bin)) {
    await chmod(join(installed, path), 0o755);
    await symlink(join(installed, path), join(folder, "node_modules", ".bin", name));
  }
}

/** Links a package of this repository. */
async function linkPackage(folder: string, name: string): Promise<void> {
  const link = join(folder, "node_modules", name);
  await mkdir(dirname(link), { recursive: true });
  await symlink(join(ROOT, "node_modules", name), link);
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
  for (const name of Object.keys(packages)) await linkPackage(folder, name);
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
