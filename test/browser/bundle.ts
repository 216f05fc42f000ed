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
    if (others.length > 0 || chunk.imports.length > 0 || chunk.dynamicImports.length > 0) {
      throw new Error(`The bundle is not one module: ${[...chunk.imports, ...chunk.dynamicImports].join(", ")}`);
    }
    return chunk.code;
  } finally {
    await build.close();
  }
}
