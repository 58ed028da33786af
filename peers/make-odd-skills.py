#!/usr/bin/env python3
"""Writes many small skills with odd frontmatter, for peers/compare-validator.py to compare verdicts on.

    python3 peers/make-odd-skills.py DIRECTORY --count 5000 --seed 1

Every skill is put together from pieces that readers of YAML and of frontmatter disagree on. The same seed writes the same skills.
"""

import argparse
import pathlib
import random

NAMES = [
    "pdf-tool", "PDF", "a--b", "-a", "b-", "é", "ﬁx", "日本", "a_b", "a b", "123", "1.5", "on", "null", "~", "x" * 64, "y" * 65,
    "ǅ", "ß", "ⅷ", "²", "हिन्दी", '"x"', "'x'", "", "  x  ", "x # c", "x: y", "[x]", "{x: y}", "&a x", "!!str x", "*a", "|\n  x",
    ">-\n  x", "\n  x", "x\n  y", "@x", "`x", "%x", "x\ty", "\tx", '"x\\u002d"', '"open', "'it''s'", "x---y", "0x1F", "2001-01-01",
    "x,", "x]", "#x", "? x", "&x", ":", ": x", "x :y", "-", "\u200b", "x\u00a0y", "\u2028", "x\x85y", "\x07", "İ", "ı", "ſ",
]
DESCRIPTIONS = [
    "Does x. Use when y.", "a --- b", "---", '"a --- b"', "x" * 1024, "x" * 1025, "é" * 1024, "é" * 1025, "", '""', "' '",
    "|\n  two\n  lines", ">\n  folded\n  text\n\n  more", ">-\n  a: b", "Use when: asked", "[a, b]", "{a: b}", "- a\n  - b",
    "\n  - a\n  - b", "\n- a\n- b", "\n  k: v", "# c", "a # b", "a#b", '"a\\nb"', "a\n  b\n  c", "a\nb", "\n  a", "\n    a\n  b",
    "a\n # c", "yes", "12", "null", "!t x", "&q x", "*q", "@a", "`a`", "%a", '"x" y', "it's", "d\ttab", "\td", "😀", "\ufffe", "\x00",
    "\x1b[0m", "\x7f", "|+\n  a\n\n\n", "|2\n  a", ">1\n a", "|\n\ta", '"a\n  b"', "'a\n\n  b'", '"\\x41 \\q"', "a ]", "? a", "key: - x",
    "?x", "-x", "- x", ":x", "'a'b'", "|\n  a\n b", ">\n  " + "x" * 1023, ">\n  " + "x" * 1024,
]
LINES = [
    "license: MIT", "license:", "license: [MIT]", "license:\n  - MIT", "license:\n  a: b", "compatibility: x", "compatibility:",
    'compatibility: ""', "compatibility: " + "c" * 500, "compatibility: " + "c" * 501, "compatibility:\n  - a", "metadata:",
    "metadata: text", "metadata:\n  a: b", "metadata:\n  a: 1.0", "metadata:\n  a:\n    b: c", "metadata:\n    a: b\n    c:\n        d: e",
    "metadata:\n  a:\n    x: 1\n  b:\n      y: 2", "metadata: {}", "metadata: {a: b}", "metadata:\n  - a", "metadata:\n  a: b\n  a: c",
    "metadata:\n  a: [x]", "metadata:\n a: b\n  c: d", "metadata:\n\ta: b", "allowed-tools: Read", "allowed-tools: Read, Grep",
    "allowed-tools: [Read]", "allowed-tools:\n  - Read", "allowed-tools:\n- Read", "version: 1", "name: x", "description: again",
    '"license": MIT', "? license\n: MIT", "? [a]\n: b", "1: 2", "license : MIT", "license:MIT", "license", "# comment", "  # comment",
    "", "  ", "\t", "\t# c", "license: MIT\t", "license:\tMIT", "license: MIT \t# x", "<<: x", "&a license: MIT", "license: &a MIT",
    "license: *a", "license: !!str MIT", "...", "--- ", "---x", "----", " ---", "license: |\n  MIT\n  ---\n  x", "%YAML 1.2",
    " license: MIT", "metadata:\n  a : b", "metadata:\n  a:\n  - b", "metadata:\n  a: |\n    x\n   y", "metadata: # c\n  a: b", "metadata: ~",
]
OPENINGS = ["---\n"] * 12 + [
    "---\r\n", "--- \n", "---\t\n", "--- # c\n", "---js\n", "----\n", "\n---\n", "\ufeff---\n", " ---\n", "--- name: x\n", "---\n\n",
    "---\n# c\n", "<!-- c -->\n---\n", "---\r",
]
CLOSINGS = ["\n---\n"] * 12 + [
    "\r\n---\r\n", "\n---", "\n--- \n", "\n...\n", "\n----\n", "\n ---\n", "\n", "", "\n---x\n", "\n\n---\n", "\n---\n---\n", "\n...\n---\n",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    choice = random.Random(arguments.seed)
    for number in range(arguments.count):
        write(choice, arguments.directory / str(number))


def write(choice: random.Random, parent: pathlib.Path) -> None:
    name = choice.choice(NAMES) if choice.random() < 0.5 else "x"
    description = choice.choice(DESCRIPTIONS) if choice.random() < 0.6 else "Does x."
    lines = [f"name: {name}", f"description: {description}"]
    lines += [choice.choice(LINES) for _ in range(choice.choice([0, 0, 0, 1, 1, 2]))]
    if choice.random() < 0.1:
        lines.pop(choice.randrange(len(lines)))
    if choice.random() < 0.3:
        choice.shuffle(lines)
    text = choice.choice(OPENINGS) + "\n".join(lines) + choice.choice(CLOSINGS) + "body\n"
    ends = choice.random()
    if ends < 0.08:
        text = text.replace("\n", "\r\n" if ends < 0.05 else "\r")
    directory = name.strip().strip("\"'").split("\n")[0].replace("\0", "") or "x"
    folder = parent / ("x" if choice.random() < 0.1 else directory)
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(text.encode())


if __name__ == "__main__":
    main()
