"""Uses everything a kitbag server offers through the official Python SDK, and compares what its doors say.

    DIR/venv/bin/python python_client.py --era legacy|modern [--skills N]
        ( --stdio COMMAND [ARGUMENT...] | --url URL --token-file FILE )

Prints one line of JSON. Exit code 0 only if nothing failed and nobody warned: the SDK, Python, or the server on its
standard error.
"""

import argparse
import asyncio
import base64
import hashlib
import json
import logging
import re
import sys
import tempfile
import traceback
import warnings
from urllib.parse import unquote

import httpx2
import jsonschema
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

MODERN = "2026-07-28"
FILES_A_CALL = 8
BYTES_A_CALL = 4 * 1024 * 1024
BYTES_A_FILE = 1024 * 1024
BYTES_A_RESOURCE = 16 * 1024 * 1024
# Where the server's own list of resources ends.
MAX_RESOURCES = 10_000
MAX_PAGES = 10_000
MAX_FAILURES = 20
ALARM = re.compile(r"\b(warn(ing)?|errors?|failed|panick?ed|deprecated)\b", re.IGNORECASE)

failures = []


def fail(what):
    failures.append(str(what)[:500])


def check(holds, what):
    if not holds:
        fail(what)
    return bool(holds)


class Alarm(logging.Handler):
    """Turns every log record of a warning or worse into a failure."""

    def emit(self, record):
        fail(f"log {record.levelname} {record.name}: {record.getMessage()}")


async def every(list_page, key):
    """Every item of a list that is given by the page."""
    items, seen, cursor = [], set(), None
    for _ in range(MAX_PAGES):
        page = await list_page(cursor=cursor)
        items.extend(getattr(page, key))
        cursor = page.next_cursor
        if cursor is None:
            return items
        if not check(cursor not in seen, f"{key}: the cursor {cursor} came twice"):
            return items
        seen.add(cursor)
    fail(f"{key}: more than {MAX_PAGES} pages")
    return items


async def call(client, tools, name, arguments):
    """Calls a tool that must succeed and answer with the same JSON as text and as structured content."""
    result = await client.call_tool(name, arguments)
    about = f"{name} {json.dumps(arguments)[:120]}"
    if not check(not result.is_error, f"{about}: {result.content[0].text if result.content else ''}"):
        return None
    if not check(len(result.content) == 1 and result.content[0].type == "text", f"{about}: not one block of text"):
        return None
    text = result.content[0].text
    check("\n" not in text, f"{about}: the JSON takes more than one line")
    check(json.loads(text) == result.structured_content, f"{about}: text and structuredContent differ")
    schema = tools[name].output_schema
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(result.structured_content)
    except (jsonschema.SchemaError, jsonschema.ValidationError) as problem:
        fail(f"{about}: {problem.message}")
    return result.structured_content


def batches(files):
    batch, total = [], 0
    for file in files:
        counted = min(file["size"], BYTES_A_FILE)
        if batch and (len(batch) == FILES_A_CALL or total + counted > BYTES_A_CALL):
            yield batch
            batch, total = [], 0
        batch.append(file["path"])
        total += counted
    if batch:
        yield batch


async def list_tools(client):
    tools = {tool.name: tool for tool in await every(client.list_tools, "tools")}
    for name in ("skill_list", "skill_load", "skill_file"):
        if not check(name in tools, f"tools/list has no {name}"):
            continue
        tool = tools[name]
        check(tool.description, f"{name} has no description")
        check((tool.output_schema or {}).get("type") == "object", f"{name} has no outputSchema")
        hints = tool.annotations
        check(hints and hints.read_only_hint is True and hints.open_world_hint is False, f"{name} is not marked read-only and closed")
    return tools


async def read_skills(client, tools, least):
    """Loads every skill and reads every file of it; gives the names, and the digest of each file by `name/path`."""
    digests = {}
    names, cursor = [], None
    for _ in range(MAX_PAGES):
        listed = await call(client, tools, "skill_list", {"cursor": cursor} if cursor else {}) or {"skills": []}
        names.extend(skill["name"] for skill in listed["skills"])
        cursor = listed.get("nextCursor")
        if cursor is None:
            break
    check(len(set(names)) == len(names), "skill_list names a skill twice")
    check(len(names) >= least, f"skill_list names {len(names)} skills, not {least}")
    for name in names:
        loaded = await call(client, tools, "skill_load", {"name": name})
        if loaded is None:
            continue
        check(loaded["name"] == name and isinstance(loaded["body"], str), f"skill_load {name}: another skill or no body")
        check(not re.match(r"---\r?\n(name|description):", loaded["body"]), f"skill_load {name}: the frontmatter is in the body")
        sizes = {file["path"]: file["size"] for file in loaded["files"]}
        check("SKILL.md" in sizes, f"skill_load {name}: SKILL.md is not among the files")
        for paths in batches(loaded["files"]):
            read = await call(client, tools, "skill_file", {"name": name, "paths": paths})
            if read is None:
                continue
            check([file["path"] for file in read["files"]] == paths, f"skill_file {name}: not in the order asked for")
            for file in read["files"]:
                about = f"skill_file {name}/{file['path']}"
                if not check("error" not in file, f"{about}: {file.get('error')}"):
                    continue
                content = file["content"]
                data = base64.b64decode(content) if file["encoding"] == "base64" else content.encode()
                size = sizes[file["path"]]
                check(file["size"] == size, f"{about}: {file['size']} bytes, listed with {size}")
                whole = len(data) <= BYTES_A_FILE if file["truncated"] else len(data) == size
                check(whole, f"{about}: {len(data)} of {size} bytes")
                digests[f"{name}/{file['path']}"] = (size, file["truncated"], hashlib.sha256(data).hexdigest())
    return names, digests


async def get_prompts(client, names):
    prompts = await every(client.list_prompts, "prompts")
    for prompt in prompts:
        check(prompt.name in names, f"the prompt {prompt.name} is no skill")
        arguments = {argument.name: f"word-{argument.name}" for argument in prompt.arguments or []}
        filled = await client.get_prompt(prompt.name, arguments or None)
        check(filled.messages, f"prompt {prompt.name} has no message")
        for message in filled.messages:
            check(message.content.type != "text" or message.content.text, f"prompt {prompt.name} has an empty message")
    return len(prompts)


async def read_resources(client, digests):
    resources = await every(client.list_resources, "resources")
    uris = [str(resource.uri) for resource in resources]
    check(len(set(uris)) == len(uris), "resources/list names a URI twice")
    for uri in uris:
        size, truncated, sha256 = digests.get(unquote(uri.removeprefix("skill://")), (0, True, ""))
        if size > BYTES_A_RESOURCE:
            continue
        read = await client.read_resource(uri)
        if not check(len(read.contents) == 1 and str(read.contents[0].uri) == uri, f"resources/read {uri}: not one content of that URI"):
            continue
        content = read.contents[0]
        data = base64.b64decode(content.blob) if hasattr(content, "blob") else content.text.encode()
        if not truncated:
            check(hashlib.sha256(data).hexdigest() == sha256, f"resources/read {uri}: not what skill_file gave")
    decoded = {unquote(uri) for uri in uris}
    if len(uris) >= MAX_RESOURCES:
        return len(uris)
    for key in digests:
        check(f"skill://{key}" in decoded, f"no resource for {key}")
    return len(uris)


async def refused(what, attempt):
    try:
        await attempt
        fail(f"{what}: answered")
    except MCPError as problem:
        code = problem.error.code
        check(code in (-32602, -32600, -32002), f"{what}: refused with {code} {problem.error.message}")


async def hostile(client, tools, name):
    paths = ["../../../etc/passwd", "/etc/passwd", "SKILL.md"]
    read = await call(client, tools, "skill_file", {"name": name, "paths": paths}) or {"files": []}
    outcome = ["error" in file for file in read["files"]]
    check(outcome == [True, True, False], "skill_file: a path out of the skill is not that entry's error alone")
    unknown = await client.call_tool("skill_load", {"name": "no-such-skill"})
    check(unknown.is_error and name in unknown.content[0].text, "skill_load: an unknown name is not answered with the known ones")
    await refused("resources/read of a path out of the skill", client.read_resource(f"skill://{name}/../../../etc/passwd"))
    await refused("prompts/get of an unknown name", client.get_prompt("no-such-skill"))


async def use(server, options, summary):
    mode = "auto" if options.era == "modern" else "legacy"
    async with Client(server, mode=mode, cache=None, read_timeout_seconds=60) as client:
        summary["protocol"] = client.protocol_version
        if options.era == "modern":
            check(client.protocol_version == MODERN, f"`server/discover` led to {client.protocol_version}")
        check(client.instructions, "the server gives no instructions")
        summary["server"] = client.server_info.version
        tools = await list_tools(client)
        summary["tools"] = len(tools)
        names, digests = await read_skills(client, tools, options.skills)
        summary["skills"], summary["files"] = len(names), len(digests)
        summary["prompts"] = await get_prompts(client, names)
        summary["resources"] = await read_resources(client, digests)
        if names:
            await hostile(client, tools, names[0])


async def run(options, summary):
    if options.stdio:
        command, *args = options.stdio
        with tempfile.TemporaryFile("w+") as heard:
            await use(stdio_client(StdioServerParameters(command=command, args=args), errlog=heard), options, summary)
            heard.seek(0)
            alarm = next((line for line in heard if ALARM.search(line)), None)
            check(alarm is None, f"the server warned: {alarm}")
    else:
        with open(options.token_file) as file:
            token = file.read().strip()
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
            await use(streamable_http_client(options.url, http_client=http), options, summary)


def main():
    parser = argparse.ArgumentParser(description="Use everything a kitbag server offers through the Python SDK.")
    parser.add_argument("--era", choices=["legacy", "modern"], default="legacy")
    parser.add_argument("--skills", type=int, default=1, help="how many skills there must be at least")
    parser.add_argument("--url")
    parser.add_argument("--token-file")
    parser.add_argument("--stdio", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if bool(options.stdio) == bool(options.url):
        parser.error("give --stdio COMMAND or --url URL --token-file FILE")

    logging.getLogger().addHandler(Alarm(logging.WARNING))
    summary = {"peer": "python", "era": options.era, "transport": "stdio" if options.stdio else "http"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            asyncio.run(run(options, summary))
        except BaseException:  # an exception group of the SDK's tasks, too
            fail(traceback.format_exc()[-500:])
    for warning in caught:
        fail(f"python warning: {warning.category.__name__}: {warning.message}")
    summary |= {"failures": failures[:MAX_FAILURES], "failed": len(failures)}
    print(json.dumps(summary))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
