import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The files that packing reads. */
const NEEDED = [
  "src",
  "console",
  "scripts",
  "docs",
  "templates",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  "SECURITY.md",
  "deploy",
];

export interface Packed {
  /** The copy of the repository, as packing left it. */
  readonly clone: string;
  readonly tarball: string;
  readonly files: readonly string[];
  remove(): Promise<void>;
}

export interface PackOptions {
  /** Default true. If false, the built files are the same, but a type error does not stop the build. */
  readonly checksTypes?: boolean;
}

/** Packs a copy of the repository, so that packing never rewrites the real manifest. */
export async function packCopy(options: PackOptions = {}): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), "palaver-pack-"));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    return { ...(await packInto(folder, options)), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function packInto(folder: string, { checksTypes = true }: PackOptions): Promise<Omit<Packed, "remove">> {
  const clone = join(folder, "clone");
  await mkdir(clone);
  for (const name of NEEDED) await cp(join(ROOT, name), join(clone, name), { recursive: true });
  if (!checksTypes) await turnOffChecks(join(clone, "tsconfig.build.json"));
  await symlink(join(ROOT, "node_modules"), join(clone, "node_modules"));
  const { stdout } = await promisify(execFile)(
    "npm",
    ["pack", "--json", "--loglevel=error", "--pack-destination", folder],
    {
      cwd: clone,
      maxBuffer: 2 ** 26,
    },
  );
  const { filename, files } = packReport(stdout);
  return {
    clone,
    tarball: join(folder, filename),
    files: files.map(({ path }) => path),
  };
}

async function turnOffChecks(path: string): Promise<void> {
  // Safe: it is the project's own file.
  const config = JSON.parse(await readFile(path, "utf8")) as { readonly compilerOptions: object };
  await writeFile(path, JSON.stringify({ ...config, compilerOptions: { ...config.compilerOptions, noCheck: true } }));
}

interface PackReport {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** npm prints a list with one report, or, in later versions, an object with one. */
function packReport(stdout: string): PackReport {
  const reports = JSON.parse(stdout) as readonly PackReport[] | Readonly<Record<string, PackReport>>;
  const [report] = Object.values(reports);
  if (report === undefined) throw new Error("npm pack reported no tarball.");
  return report;
}
