#!/usr/bin/env python3
"""Compares kitbag's verdicts on real skills with those of the reference validator.

    python3 -m venv venv && venv/bin/pip install skills-ref
    venv/bin/python peers/compare-validator.py --kitbag target/release/kitbag CORPUS...

Run it with a Python that has `skills-ref` installed: the reference then runs in this process, which takes seconds for thousands
of files. `--reference COMMAND` runs a command instead, once for each skill, such as `--reference agentskills`. With
`--reader COMMAND` in place of `--kitbag` the verdicts come from a program that reads paths from standard input and writes one
JSON report a line, such as the example `validate` of `kitbag-skills`.

Each CORPUS is a directory, searched for SKILL.md files; links to files count, links to directories are not followed, and links to nothing are left out. Exit code 0:
every difference is one that docs/reference/validate.md lists; 1: some other difference; 2: usage.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs" / "reference" / "validate.md"
CHUNK = 200


def main() -> int:
    arguments = parse_arguments()
    documented = documented_differences()
    unexplained = 0
    totals = {"files": 0, "equal": 0}
    by_reason: dict[str, int] = {}
    print(f"{'corpus':44} {'files':>6} {'valid':>6} {'ours':>6} {'equal':>6}  differences")
    for corpus in arguments.corpus:
        files = sorted(str(path) for path in find(corpus))
        ours = kitbag_verdicts(arguments, files)
        reasons: dict[str, int] = {}
        valid = accepted = 0
        for file in files:
            messages = reference_messages(arguments, file)
            report = ours[file]
            valid += not messages
            accepted += report["valid"]
            if bool(messages) != report["valid"]:
                continue
            reason = explain(messages, report, file, documented)
            reasons[reason] = reasons.get(reason, 0) + 1
            by_reason[reason] = by_reason.get(reason, 0) + 1
            if reason.startswith("NOT LISTED"):
                unexplained += 1
                print(f"  {file}\n    reference: {messages or 'valid'}\n    kitbag: {errors(report) or 'valid'}", file=sys.stderr)
        equal = len(files) - sum(reasons.values())
        totals["files"] += len(files)
        totals["equal"] += equal
        text = ", ".join(f"{reason}: {count}" for reason, count in sorted(reasons.items())) or "-"
        print(f"{pathlib.Path(corpus).name:44} {len(files):6} {valid:6} {accepted:6} {equal:6}  {text}")
    print(f"\n{totals['files']} files, {totals['equal']} equal verdicts; differences by reason:")
    for reason, count in sorted(by_reason.items(), key=lambda item: -item[1]):
        print(f"  {count:6}  {reason}")
    return 1 if unexplained else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kitbag", help="the kitbag binary")
    parser.add_argument("--reader", help="a program that reads paths and writes JSON lines")
    parser.add_argument("--reference", help="the reference's command; without it, the Python package")
    parser.add_argument("corpus", nargs="+")
    arguments = parser.parse_args()
    if bool(arguments.kitbag) == bool(arguments.reader):
        parser.error("give one of --kitbag and --reader")
    return arguments


def find(corpus: str):
    for directory, _, names in os.walk(corpus):
        if "SKILL.md" in names and os.path.exists(os.path.join(directory, "SKILL.md")):
            yield pathlib.Path(directory) / "SKILL.md"


def kitbag_verdicts(arguments: argparse.Namespace, files: list[str]) -> dict[str, dict]:
    reports: dict[str, dict] = {}
    if arguments.reader:
        done = subprocess.run([arguments.reader], input="\n".join(files), capture_output=True, text=True, check=True)
        lines = [json.loads(line) for line in done.stdout.split("\n") if line]
        reports.update(zip(files, lines, strict=True))
        return reports
    for start in range(0, len(files), CHUNK):
        chunk = files[start : start + CHUNK]
        command = [arguments.kitbag, "skills", "validate", "--json", *chunk]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"{command[:4]}: exit code {done.returncode}: {done.stderr}")
        reports.update(zip(chunk, json.loads(done.stdout)["skills"], strict=True))
    return reports


def reference_messages(arguments: argparse.Namespace, file: str) -> list[str]:
    if arguments.reference:
        done = subprocess.run([arguments.reference, "validate", file], capture_output=True, text=True)
        return [] if done.returncode == 0 else [done.stderr.strip() or "rejected"]
    from skills_ref.validator import validate

    try:
        return validate(pathlib.Path(file).parent)
    except Exception as error:  # The reference lets some faults through as exceptions; its command then exits with 1.
        return [f"{type(error).__name__}: {error}"]


def documented_differences() -> set[str]:
    """The ids in the first column of the table under the heading `Differences from the reference`."""
    text = DOCS.read_text(encoding="utf-8")
    section = text.split("## Differences from the reference", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE))


def errors(report: dict) -> list[str]:
    return [finding["rule"] for finding in report["findings"] if finding["severity"] == "error"]


def explain(messages: list[str], report: dict, file: str, documented: set[str]) -> str:
    """The documented difference that accounts for this one, or `NOT LISTED` and what is known of it."""
    rules = {finding["rule"] for finding in report["findings"]}
    ours = set(errors(report))
    text = pathlib.Path(file).read_text(encoding="utf-8", errors="replace")
    # The reference ends the frontmatter at these three characters wherever they stand, so that no more can be compared.
    if "frontmatter-inner-fence" in rules & documented:
        return "frontmatter-inner-fence"
    if not messages:
        # What a rule in the list refuses is listed; yaml-invalid is so only for its limits, which nothing here reaches.
        unlisted = ours - documented | ours & {"yaml-invalid"}
        return "NOT LISTED, only we refuse: " + ", ".join(sorted(unlisted)) if unlisted else " ".join(sorted(ours))
    first = messages[0]
    candidates = {
        "yaml-flow": "JSONesque flow" in first,
        "byte-order-mark": "must start with" in first and text.startswith("\ufeff"),
        "nested-indentation": "inconsistent with previous mapping" in first,
    }
    for reason, holds in candidates.items():
        if holds and reason in documented:
            return reason
    return "NOT LISTED, only the reference refuses: " + first.splitlines()[0][:80]


if __name__ == "__main__":
    sys.exit(main())
