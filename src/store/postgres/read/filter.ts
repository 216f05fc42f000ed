/** Collects the conditions of a query and its parameters. */
export class Filter {
  readonly #conditions: string[] = [];
  readonly #values: unknown[] = [];

  get values(): readonly unknown[] {
    return this.#values;
  }

  /** All conditions; empty if there is none. */
  get sql(): string {
    return this.#conditions.join(" AND ");
  }

  /** Adds a parameter and returns its name, such as `$2`. */
  parameter(value: unknown): string {
    this.#values.push(value);
    return `$${this.#values.length}`;
  }

  /** Adds a condition on a parameter. */
  add(condition: (parameter: string) => string, value: unknown): void {
    this.#conditions.push(condition(this.parameter(value)));
  }

  /** `type`: a cast such as `::uuid`. */
  equals(column: string, value: unknown, type = ""): void {
    this.add((parameter) => `${column} = ${parameter}${type}`, value);
  }
}
