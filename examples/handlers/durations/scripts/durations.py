"""Turns a length of time into seconds: one JSON object on stdin, one on stdout."""

import json
import re
import sys

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def main():
    text = json.load(sys.stdin)["args"]["text"]
    counts = {}
    for count, unit in re.findall(r"([0-9]+)([dhms])", text):
        if unit in counts:
            print(f"the unit `{unit}` is given twice in `{text}`", file=sys.stderr)
            return 2
        counts[unit] = int(count)
    parts = [unit for unit in UNITS if unit in counts]
    answer = {
        "seconds": sum(counts[unit] * UNITS[unit] for unit in parts),
        "parts": [f"{counts[unit]}{unit}" for unit in parts],
    }
    json.dump(answer, sys.stdout)
    return 0


sys.exit(main())
