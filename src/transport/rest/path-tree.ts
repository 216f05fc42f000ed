interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  /** Any one segment that ends so, by that ending with its colon. */
  readonly verbs: Map<string, Node<T>>;
  /** Any one segment. */
  any: Node<T> | undefined;
  value: T | undefined;
}

/** What a path leads to, and what stands in it for the pattern's names, as sent. */
export interface PathMatch<T> {
  readonly value: T;
  readonly captured: readonly string[];
}

/**
 * Values by path patterns such as `/tasks/{id}:cancel`. A colon is allowed in a segment, so one that ends in a known verb is
 * never taken for a bare name: whoever has such an id sends its colon percent-encoded.
 */
export class PathTree<T> {
  readonly #root: Node<T> = createNode();

  /** What is kept for the pattern, made the first time. Names are only places: `/{a}` is `/{b}`. */
  at(pattern: string, make: () => T): T {
    let node = this.#root;
    for (const segment of segmentsOf(pattern)) node = child(node, segment);
    node.value ??= make();
    return node.value;
  }

  /** Looks at the segments from this index on. An empty one matches nothing. */
  find(segments: readonly string[], from: number): PathMatch<T> | undefined {
    let node: Node<T> | undefined = this.#root;
    const captured: string[] = [];
    for (let index = from; index < segments.length; index++) {
      node = step(node, segments[index] ?? "", captured);
      if (node === undefined) return undefined;
    }
    return node.value === undefined ? undefined : { value: node.value, captured };
  }
}

function step<T>(node: Node<T>, segment: string, captured: string[]): Node<T> | undefined {
  if (segment === "") return undefined;
  const literal = node.literals.get(segment);
  if (literal !== undefined) return literal;
  const colon = segment.lastIndexOf(":");
  const verb = colon === -1 ? undefined : node.verbs.get(segment.slice(colon));
  if (verb !== undefined) {
    if (colon === 0) return undefined;
    captured.push(segment.slice(0, colon));
    return verb;
  }
  if (node.any !== undefined) captured.push(segment);
  return node.any;
}

function createNode<T>(): Node<T> {
  return { literals: new Map(), verbs: new Map(), any: undefined, value: undefined };
}

function child<T>(node: Node<T>, segment: string): Node<T> {
  const name = NAME.exec(segment);
  if (name === null) return kept(node.literals, segment);
  const [, verb = ""] = name;
  if (verb !== "") return kept(node.verbs, verb);
  node.any ??= createNode();
  return node.any;
}

function kept<T>(nodes: Map<string, Node<T>>, key: string): Node<T> {
  const node = nodes.get(key) ?? createNode<T>();
  nodes.set(key, node);
  return node;
}

const NAME = /^\{\w+\}(:\w+)?$/;

function segmentsOf(pattern: string): readonly string[] {
  return pattern.split("/").slice(1);
}

/** The names a pattern has places for, in their order. */
export function namesIn(pattern: string): readonly string[] {
  return segmentsOf(pattern).flatMap((segment) => (NAME.test(segment) ? [segment.slice(1, segment.indexOf("}"))] : []));
}
