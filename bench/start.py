#!/usr/bin/env python3
"""Times MCP servers as whole processes: start to the first `tools/list` answer, and the memory they then hold.

    bench/start.py --runs 20 -- target/release/kitbag serve --skills DIR
    bench/start.py --runs 20 --vs 'node bench/node-server.mjs DIR' -- target/release/kitbag serve --skills DIR

Runs alternate, so that a machine whose speed drifts is fair to both. Needs nothing but Python. Linux only, for the
memory.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

OPENING = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
]


def resident_kib(pid: int) -> int:
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    return 0


def run(command: list[str], then: list[dict]) -> tuple[float, float]:
    """Milliseconds to the first `tools/list` answer, and resident MiB after `then`."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ["PATH"]}
        start = time.perf_counter()
        server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        try:
            send(server, OPENING[:1])
            answer(server, 1)
            send(server, OPENING[1:])
            answer(server, 2)
            elapsed = (time.perf_counter() - start) * 1000
            # What a server does on the side when it starts is part of what it then holds.
            time.sleep(0.5)
            for request in then:
                send(server, [request])
                answer(server, request["id"])
            memory = resident_kib(server.pid) / 1024
        finally:
            server.stdin.close()
            server.wait(timeout=10)
    return elapsed, memory


def send(server: subprocess.Popen, messages: list[dict]) -> None:
    server.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
    server.stdin.flush()


def answer(server: subprocess.Popen, identity: int) -> None:
    while line := server.stdout.readline():
        message = json.loads(line)
        if message.get("id") == identity:
            if "error" in message:
                sys.exit(f"the server answered with an error: {message['error']}")
            return
    sys.exit("the server ended before it answered")


def row(name: str, values: list[float], unit: str) -> None:
    print(f"{name:24} {min(values):9.1f} {statistics.median(values):9.1f} {max(values):9.1f}  {unit}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--vs", help="another command, to be run in turn")
    parser.add_argument("--list", action="store_true", help="call skill_list before the memory is read")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    commands = {"A": arguments.command}
    if arguments.vs:
        commands["B"] = shlex.split(arguments.vs)
    then = []
    if arguments.list:
        call = {"name": "skill_list", "arguments": {}}
        then = [{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}]
    results = {name: [] for name in commands}
    for name, command in commands.items():
        run(command, then)
    for _ in range(arguments.runs):
        for name, command in commands.items():
            results[name].append(run(command, then))
    print(f"{'':24} {'min':>9} {'median':>9} {'max':>9}")
    for name, measured in results.items():
        row(f"{name} first tools/list", [elapsed for elapsed, _ in measured], "ms")
        row(f"{name} resident", [memory for _, memory in measured], "MiB")
    if "B" in results:
        ratios = [b[0] / a[0] for a, b in zip(results["A"], results["B"])]
        row("B / A", ratios, "times")


if __name__ == "__main__":
    main()
