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
const { runProgram } = await import("./program.ts");
const { createNodeContext } = await import("./node-context.ts");
const { remoteConnect } = await import("./session/remote-connect.ts");
const code = await runProgram(process.argv.slice(2), createNodeContext(remoteConnect));
// 0 is not set: `serve` returns while its server runs, and the server may set an exit code later.
if (code !== 0) process.exitCode = code;
