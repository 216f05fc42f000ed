/** The items of a list separated by commas: `"a, b,"` becomes `["a", "b"]`. Empty if absent. */
export function listFrom(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
