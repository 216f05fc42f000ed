/** The value of an expression with numbers, `+ - * /` and parentheses. Throws a sentence for anything else. */
export function calculate(expression: string): number {
  const tokens = expression.match(/\d+(?:\.\d+)?|[-+*/()]|\S/g) ?? [];
  let at = 0;

  function sum(): number {
    let value = product();
    for (;;) {
      if (accept("+")) value += product();
      else if (accept("-")) value -= product();
      else return value;
    }
  }

  function product(): number {
    let value = factor();
    for (;;) {
      if (accept("*")) value *= factor();
      else if (accept("/")) value /= factor();
      else return value;
    }
  }

  function factor(): number {
    if (accept("-")) return -factor();
    if (accept("(")) {
      const value = sum();
      if (!accept(")")) throw new Error("A closing parenthesis is missing.");
      return value;
    }
    const token = tokens[at++];
    if (token === undefined || !/^\d/.test(token)) throw new Error(`Expected a number, got ${token ?? "the end"}.`);
    return Number(token);
  }

  function accept(token: string): boolean {
    if (tokens[at] !== token) return false;
    at++;
    return true;
  }

  const value = sum();
  if (at < tokens.length) throw new Error(`Unexpected ${tokens[at]}.`);
  if (!Number.isFinite(value)) throw new Error("The result is not a number.");
  return value;
}
