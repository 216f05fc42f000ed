interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  /** Any segment with this suffix; the key includes the colon. */
  readonly verbs: Map<string, Node<T>>;
  /** Any segment. */
  any: Node<T> | undefined;
  value: T | undefined;
}

/** The value for a path, and the values of its parameters, still percent-encoded. */
export interface PathMatch<T> {
  readonly value: T;
  readonly captured: readonly string[];
}

/**
 * Values by path patterns such as `/tasks/{id}:cancel`. Segments may contain a colon; a segment that ends in a known verb always matches the
 * pattern with the verb, so a client must percent-encode the colon of such an id.
 */
export class PathTree<T> {
  readonly #root: Node<T> = createNode();

  /** The value of a pattern, created by `make` the first time. The names of parameters do not matter: `/{a}` equals `/{b}`. */
  at(pattern: string, make: () => T): T {
    let node = this.#root;
    for (const segment of segmentsOf(pattern)) node = child(node, segment);
    node.value ??= make();
    return node.value;
  }

  /** Matches the segments from this index on. An empty segment matches nothing. */
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

/** The names of a pattern's parameters, in order. */
export function namesIn(pattern: string): readonly string[] {
  return segmentsOf(pattern).flatMap((segment) => (NAME.test(segment) ? [segment.slice(1, segment.indexOf("}"))] : []));
}
