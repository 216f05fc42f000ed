import { isBuiltin } from "node:module";
import { rolldown } from "rolldown";

/**
 * Bundles an entry and its imports into one module for a web page. Rejects if an import is a Node module or is not
 * found.
 */
export async function bundleForBrowser(entry: string): Promise<string> {
  const build = await rolldown({
    input: entry,
    platform: "browser",
    plugins: [
      {
        name: "nothing-of-node",
        resolveId(source, importer) {
          if (isBuiltin(source)) throw new Error(`${importer} imports ${source}, which browsers do not have.`);
        },
      },
    ],
    onLog(_level, log) {
      throw new Error(log.message);
    },
  });
  try {
    const { output } = await build.generate({ format: "es", codeSplitting: false });
    const [chunk, ...others] = output;
    // Without code splitting, what is loaded on demand is a part of the bundle itself.
    const imports = [...chunk.imports, ...chunk.dynamicImports].filter((name) => name !== chunk.fileName);
    if (others.length > 0 || imports.length > 0) {
      throw new Error(`The bundle is not one module: ${imports.join(", ")}`);
    }
    return chunk.code;
  } finally {
    await build.close();
  }
}
