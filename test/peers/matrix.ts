/** The result of one operation with one peer: it works, it fails, or the peer lacks the feature for a reason. */
export type Cell =
  | { readonly outcome: "passed" }
  | { readonly outcome: "failed"; readonly error: string }
  | { readonly outcome: "lacking"; readonly reason: string };

/** A peer over one binding. */
export interface Column {
  readonly peer: string;
  readonly protocol: string;
  readonly binding: string;
}

export interface Row {
  readonly operation: string;
  /** One cell for each column. */
  readonly cells: readonly Cell[];
}

/** Operations by peer and binding. */
export interface Table {
  readonly columns: readonly Column[];
  readonly groups: readonly { readonly title: string; readonly rows: readonly Row[] }[];
}

/** All results. */
export interface Matrix {
  /** Other projects' clients with this server. */
  readonly clients: Table;
  /** This client with other projects' servers. */
  readonly servers: Table;
  /** Recorded exchanges by operation, for the version without published clients. */
  readonly golden: readonly { readonly title: string; readonly exchanges: readonly GoldenExchange[] }[];
}

export interface GoldenExchange {
  readonly name: string;
  readonly cell: Cell;
}

export const MARKS: Readonly<Record<Cell["outcome"], string>> = { passed: "✓", failed: "✗", lacking: "–" };

/** The missing features by peer and reason. */
export function lackingIn({ columns, groups }: Table): readonly Lack[] {
  const lacks = new Map<string, Lack>();
  for (const { title, rows } of groups) {
    for (const { operation, cells } of rows) {
      for (const [index, cell] of cells.entries()) {
        const column = columns[index];
        if (cell.outcome !== "lacking" || column === undefined) continue;
        const key = JSON.stringify([column.peer, cell.reason]);
        const lack = lacks.get(key) ?? { peer: column.peer, reason: cell.reason, operations: new Map() };
        const name = `${title}: ${operation}`;
        lack.operations.set(name, [...(lack.operations.get(name) ?? []), column.binding]);
        lacks.set(key, lack);
      }
    }
  }
  return [...lacks.values()];
}

export interface Lack {
  readonly peer: string;
  readonly reason: string;
  /** Each operation with the bindings that lack it. */
  readonly operations: Map<string, readonly string[]>;
}
