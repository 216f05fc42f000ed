/** What came of one operation of one peer: it works, it does not, or the peer has no such thing, and why. */
export type Cell =
  | { readonly outcome: "passed" }
  | { readonly outcome: "failed"; readonly error: string }
  | { readonly outcome: "lacking"; readonly reason: string };

/** A peer as it talks over one binding. */
export interface Column {
  readonly peer: string;
  readonly protocol: string;
  readonly binding: string;
}

export interface Row {
  readonly operation: string;
  /** One for each column. */
  readonly cells: readonly Cell[];
}

/** Peers and bindings by operation. */
export interface Table {
  readonly columns: readonly Column[];
  readonly groups: readonly { readonly title: string; readonly rows: readonly Row[] }[];
}

/** Everything that was tried. */
export interface Matrix {
  /** The clients of others with this server. */
  readonly clients: Table;
  /** This client with the servers of others. */
  readonly servers: Table;
  /** For the version that no client is left of: exchanges that are written down, by operation. */
  readonly golden: readonly { readonly title: string; readonly exchanges: readonly GoldenExchange[] }[];
}

export interface GoldenExchange {
  readonly name: string;
  readonly cell: Cell;
}

export const MARKS: Readonly<Record<Cell["outcome"], string>> = { passed: "✓", failed: "✗", lacking: "–" };

/** Why some things are left out: by peer, by reason, what. */
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
  /** Each with the bindings it is lacking over. */
  readonly operations: Map<string, readonly string[]>;
}
