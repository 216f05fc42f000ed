#!/usr/bin/env -S node --max-semi-space-size=16
// Check the version of Node before any import: older versions cannot load the other modules.
const OLDEST_NODE = 24;
const node = process.versions.node;

if (Number.parseInt(node, 10) < OLDEST_NODE) {
  process.stderr.write(
    `palaver needs Node ${OLDEST_NODE} or later; this is ${node}. Get a newer one from https://nodejs.org.\n`,
  );
  process.exit(1);
}
// Node keeps the compiled modules in a folder of this user, so that the next start is faster; NODE_DISABLE_COMPILE_CACHE=1 turns it off.
const { enableCompileCache, flushCompileCache } = await import("node:module");
enableCompileCache();
const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
  // Without the parser, which takes most of the time of such a short command.
  const { packageVersion } = await import("../platform/version.ts");
  process.stdout.write(`${packageVersion()}\n`);
} else {
  const { runProgram } = await import("./program.ts");
  const { createNodeContext } = await import("./node-context.ts");
  const { lazyConnect } = await import("./session/lazy-connect.ts");
  const code = await runProgram(argv, createNodeContext(lazyConnect));
  // 0 is not set: `serve` returns while its server runs, and the server may set an exit code later.
  if (code !== 0) process.exitCode = code;
  setTimeout(() => void settleIn(flushCompileCache), 1000).unref();
}

/** For commands that run on, such as servers. */
async function settleIn(writeCache: () => void): Promise<void> {
  // Node writes the cache when a process exits; a server may be killed.
  writeCache();
  // Saves garbage collection, see docs/operations/README.md. Not set when Node starts, and not before the cache is written: V8 uses compiled code
  // only with the flags that it was compiled with, and Node's own modules come compiled without this one.
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--no-allocation-site-pretenuring");
}
