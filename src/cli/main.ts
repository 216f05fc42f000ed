#!/usr/bin/env -S node --max-semi-space-size=16
// Imports nothing before it knows that this Node can run the rest.
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
// A server that serves goes on; what it sets itself holds.
if (code !== 0) process.exitCode = code;
