import { readFileSync, writeFileSync } from "node:fs";
import { drawFlameGraph } from "./flame-graph.ts";

// Draws a profile that `npm run bench -- --profile DIR` wrote.

/** Servers start within two seconds: microseconds. */
const START = 2_000_000;

const [profile, picture, title, whole, unit] = process.argv.slice(2);
if (
  profile === undefined ||
  picture === undefined ||
  title === undefined ||
  whole === undefined ||
  unit === undefined
) {
  process.stderr.write(
    "Usage: node bench/draw-flame-graph.ts PROFILE.cpuprofile PICTURE.svg TITLE WHOLE UNIT\n" +
      'Example: … send.svg "Blocking send, main thread" 29.1 "µs per send"\n',
  );
  process.exit(1);
}
writeFileSync(
  picture,
  drawFlameGraph(JSON.parse(readFileSync(profile, "utf8")), { title, whole: Number(whole), unit, after: START }),
);
