// The packages of the lock file that running Palaver needs, without those for its development.

/**
 * Development packages that a server uses if they are there (gRPC), those that build the console, and a Node for machines whose own is too old.
 */
const ALSO_USED = ["@bufbuild/protobuf", "rolldown", "preact", "@preact/signals"];
const OWN_NODE = "node";

/**
 * A manifest and a lock file with only these packages, in the versions of the whole lock file.
 *
 * @param {{ packages: Record<string, any>, [member: string]: unknown }} lock the whole lock file
 * @param {boolean} withNode whether the installed Node is too old
 */
export function runPackages(lock, withNode) {
  const root = lock.packages[""];
  const dependencies = { ...root.dependencies };
  for (const name of withNode ? [...ALSO_USED, OWN_NODE] : ALSO_USED) dependencies[name] = root.devDependencies[name];
  const packages = {};
  for (const name of Object.keys(dependencies)) addPackage({ name, from: "" }, lock.packages, packages);
  const manifest = { name: root.name, version: root.version, private: true, dependencies };
  return { manifest, lock: { ...lock, packages: { "": manifest, ...packages } } };
}

/** Adds a package and all that it depends on. `from`: the path of the package that needs it. */
function addPackage({ name, from }, all, added) {
  const path = pathOf(name, from, all);
  if (path === undefined || path in added) return;
  const { dev: _, devOptional: __, ...entry } = all[path];
  added[path] = entry;
  for (const needed of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }))
    addPackage({ name: needed, from: path }, all, added);
}

/** The nearest `node_modules` with the package, as Node resolves it. */
function pathOf(name, from, all) {
  for (let folder = from; ; ) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (path in all) return path;
    if (folder === "") return undefined;
    const parent = folder.lastIndexOf("/node_modules/");
    folder = parent === -1 ? "" : folder.slice(0, parent);
  }
}
