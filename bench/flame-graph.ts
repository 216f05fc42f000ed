import { escaped } from "./svg-text.ts";

/** A CPU profile as V8 writes it (`*.cpuprofile`), as far as it is read here. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The node of each sample. */
  readonly samples: readonly number[];
  /** Microseconds between samples. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** A function in one place of the call tree. */
interface Frame {
  readonly name: string;
  readonly kind: Kind;
  /** Microseconds, with what it calls. */
  total: number;
  readonly calls: Map<string, Frame>;
}

type Kind = "palaver" | "node" | "native";

const WIDTH = 1200;
const ROW = 17;
const TOP = 30;
const BOTTOM = 24;
/** Frames that take a smaller part of the time are left out. */
const LEAST = 0.004;
/** Pixels of a character. */
const CHARACTER = 6.3;
const COLOURS: Readonly<Record<Kind, string>> = { palaver: "#4d9be6", node: "#7dbb6d", native: "#e0a14f" };
const MEANINGS: Readonly<Record<Kind, string>> = {
  palaver: "Palaver",
  node: "Node.js",
  native: "native code: V8, SQLite, the operating system",
};

/** What a thread does when it waits. */
const WAITING: ReadonlySet<string> = new Set(["(idle)", "(root)"]);

export interface FlameGraphOptions {
  readonly title: string;
  /** What the whole width stands for, in `unit`. */
  readonly whole: number;
  /** Such as `µs per send`. */
  readonly unit: string;
  /** Microseconds from the beginning of the profile that are left out: the start of the process. */
  readonly after: number;
}

/** An SVG image: callers below, what they call above them, as wide as their time. */
export function drawFlameGraph(profile: CpuProfile, { title, whole, unit, after }: FlameGraphOptions): string {
  const root = callTree(profile, after);
  const rects: string[] = [];
  let depth = 0;
  const draw = (frame: Frame, left: number, row: number): void => {
    const part = frame.total / root.total;
    depth = Math.max(depth, row);
    rects.push(rectangle(frame, { left, row, part, cost: `${(part * whole).toFixed(2)} ${unit}` }));
    let at = left;
    for (const call of [...frame.calls.values()].sort((one, other) => other.total - one.total)) {
      if (call.total / root.total < LEAST) continue;
      draw(call, at, row + 1);
      at += (call.total / root.total) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = TOP + (depth + 1) * ROW + BOTTOM;
  const legend = (Object.keys(COLOURS) as readonly Kind[]).map((kind, index) => {
    const x = 8 + index * 130;
    return `<rect x="${x}" y="${height - 17}" width="11" height="11" fill="${COLOURS[kind]}"/><text class="l" x="${x + 16}" y="${height - 7}">${MEANINGS[kind]}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">
<style>text{font:11px ui-monospace,monospace;fill:#111;pointer-events:none}.h{font:600 14px system-ui,sans-serif;fill:#777}.l{font:12px system-ui,sans-serif;fill:#777}</style>
<text class="h" x="8" y="19">${escaped(`${title}: ${whole} ${unit}`)}</text>
<g transform="translate(0 ${height - BOTTOM}) scale(1 -1)">
${rects.join("\n")}
</g>
${legend.join("\n")}
</svg>
`;
}

/** The calls of a profile, without waiting and without the first microseconds. */
export function callTree({ nodes, samples, timeDeltas }: CpuProfile, after: number): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const root: Frame = { name: "all", kind: "native", total: 0, calls: new Map() };
  let elapsed = 0;
  for (const [index, sample] of samples.entries()) {
    const time = timeDeltas[index] ?? 0;
    elapsed += time;
    if (elapsed <= after) continue;
    const stack: ProfileNode[] = [];
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const node = byId.get(id);
      if (node !== undefined && node.callFrame.functionName !== "(root)") stack.push(node);
    }
    const [innermost] = stack;
    if (innermost === undefined || WAITING.has(innermost.callFrame.functionName)) continue;
    root.total += time;
    let frame = root;
    for (const { callFrame } of stack.toReversed()) {
      frame = called(frame, callFrame);
      frame.total += time;
    }
  }
  return root;
}

function called(by: Frame, { functionName, url, lineNumber }: ProfileNode["callFrame"]): Frame {
  const place = placeOf(url);
  const name = `${functionName || "(anonymous)"}${place === "" ? "" : ` ${place}:${lineNumber + 1}`}`;
  const known = by.calls.get(name);
  if (known !== undefined) return known;
  const kind = place === "" ? "native" : url.startsWith("node:") ? "node" : "palaver";
  const frame: Frame = { name, kind, total: 0, calls: new Map() };
  by.calls.set(name, frame);
  return frame;
}

/** The file, from the folder of the sources on. */
function placeOf(url: string): string {
  if (url.startsWith("node:")) return url;
  return url.replace(/^.*\/(?=(?:src|bench)\/)/, "");
}

interface Place {
  readonly left: number;
  readonly row: number;
  /** Of the whole time. */
  readonly part: number;
  readonly cost: string;
}

function rectangle({ name, kind }: Frame, { left, row, part, cost }: Place): string {
  const width = part * WIDTH;
  const room = Math.floor((width - 6) / CHARACTER);
  const label = room < 4 ? "" : name.length <= room ? name : `${name.slice(0, room - 1)}…`;
  const y = row * ROW;
  // The group is upside down, so that rows grow upwards; texts are turned back.
  const text = `<text transform="translate(${(left + 3).toFixed(1)} ${y + 4}) scale(1 -1)">${escaped(label)}</text>`;
  const rect = `<rect x="${left.toFixed(1)}" y="${y}" width="${Math.max(0.3, width - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${COLOURS[kind]}"/>`;
  return `<g><title>${escaped(`${name} – ${cost}, ${(part * 100).toFixed(1)} %`)}</title>${rect}${label === "" ? "" : text}</g>`;
}
