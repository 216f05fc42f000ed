import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellWord, splitShellWords } from "./shell-words.ts";

test.each([
  ["python agent.py --fast", ["python", "agent.py", "--fast"]],
  ["  a \t b\n", ["a", "b"]],
  ["'a b' \"c d\" e\\ f", ["a b", "c d", "e f"]],
  ["'' \"\"", ["", ""]],
  [`x"y"'z'`, ["xyz"]],
  [`"a \\" b" '\\'`, [`a " b`, "\\"]],
  [`"\\\\ \\n"`, ["\\ \\n"]],
])("splits %j like a shell", (command, words) => {
  expect(splitShellWords(command)).toEqual(words);
  const printed = execFileSync("sh", ["-c", `printf '%s\\n' ${command.trim()}`], { encoding: "utf8" });
  expect(printed).toBe(words.map((word) => `${word}\n`).join(""));
});

test("does not interpret variables, patterns and operators", () => {
  expect(splitShellWords("echo $HOME *.ts | cat > file; ls &")).toEqual([
    "echo",
    "$HOME",
    "*.ts",
    "|",
    "cat",
    ">",
    "file;",
    "ls",
    "&",
  ]);
});

test.each(["'open", '"open', "end\\"])("refuses %j", (command) => {
  expect(splitShellWords(command)).toBeUndefined();
});

test("splits what shellWord has quoted into the same word", () => {
  for (const word of ["it's", "a b", "", 'say "hi"', "\\", "$x"])
    expect(splitShellWords(shellWord(word))).toEqual([word]);
});
