// Uses everything a kitbag server offers through the official TypeScript SDK, and compares what its doors say.
//
//   KITBAG_PEERS=DIR node typescript-client.mjs --sdk v1|v2 --era legacy|modern [--skills N]
//       ( --stdio COMMAND [ARGUMENT...] | --url URL --token-file FILE )
//
// Prints one line of JSON. Exit code 0 only if nothing failed and nobody warned: the SDK, Node, or the server on its
// standard error.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { inspect } from "node:util";

const MODERN = "2026-07-28";
const FILES_A_CALL = 8;
const BYTES_A_CALL = 4 * 1024 * 1024;
const BYTES_A_FILE = 1024 * 1024;
const BYTES_A_RESOURCE = 16 * 1024 * 1024;
// Where the server's own list of resources ends.
const MAX_RESOURCES = 10_000;
const MAX_PAGES = 10_000;
const MAX_FAILURES = 20;
const ALARM = /\b(warn(ing)?|errors?|failed|panick?ed|deprecated)\b/i;

const failures = [];
function fail(what) {
  failures.push(String(what).slice(0, 500));
}
function check(holds, what) {
  if (!holds) fail(what);
  return holds;
}

for (const level of ["warn", "error", "debug"]) {
  console[level] = (...parts) => fail(`console.${level}: ${parts.map((part) => (typeof part === "string" ? part : inspect(part))).join(" ")}`);
}
process.on("warning", (warning) => fail(`node warning: ${warning.name}: ${warning.message}`));

function parse(words) {
  const options = { sdk: "v2", era: "legacy", skills: 1 };
  for (let at = 0; at < words.length; at += 1) {
    const name = words[at].replace(/^--/, "");
    if (name === "stdio") return { ...options, stdio: words.slice(at + 1) };
    options[name] = words[(at += 1)];
  }
  return options;
}

async function connect(options) {
  const require = createRequire(resolve(process.env.KITBAG_PEERS ?? fatal("KITBAG_PEERS is not set"), "package.json"));
  const name = { name: `kitbag-peer-typescript-${options.sdk}`, version: "1.0.0" };
  const v1 = options.sdk === "v1";
  const { Client } = require(v1 ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
  const { StdioClientTransport } = require(v1 ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio");
  const { StreamableHTTPClientTransport } = require(
    v1 ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client",
  );
  const mode = options.era === "modern" ? { pin: MODERN } : "legacy";
  const client = new Client(name, v1 ? {} : { versionNegotiation: { mode }, enforceStrictCapabilities: true });
  client.onerror = (error) => fail(`client error: ${error.message}`);

  let heard = "";
  let transport;
  if (options.stdio) {
    const [command, ...args] = options.stdio;
    transport = new StdioClientTransport({ command, args, stderr: "pipe" });
    transport.stderr?.on("data", (chunk) => (heard = (heard + chunk).slice(-65_536)));
  } else {
    const token = readFileSync(options["token-file"], "utf8").trim();
    transport = new StreamableHTTPClientTransport(new URL(options.url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
  }
  await client.connect(transport);
  const skills = v1 ? null : new (require("@modelcontextprotocol/client/ext/skills").SkillsClient)(client);
  return { client, skills, stderr: () => heard };
}

/** Every item of a list that is given by the page. */
async function all(list, key) {
  const items = [];
  const seen = new Set();
  let cursor;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const result = await list(cursor === undefined ? undefined : { cursor });
    items.push(...result[key]);
    cursor = result.nextCursor;
    if (cursor === undefined) return items;
    if (!check(!seen.has(cursor), `${key}: the cursor ${cursor} came twice`)) return items;
    seen.add(cursor);
  }
  fail(`${key}: more than ${MAX_PAGES} pages`);
  return items;
}

/** Calls a tool that must succeed and answer with the same JSON as text and as structured content. */
async function call(client, name, args) {
  // The SDK itself checks `structuredContent` against the published `outputSchema`, and throws where they differ.
  const result = await client.callTool({ name, arguments: args });
  const about = `${name} ${JSON.stringify(args).slice(0, 120)}`;
  if (!check(!result.isError, `${about}: ${result.content?.[0]?.text}`)) return null;
  check(result.content.length === 1 && result.content[0].type === "text", `${about}: not one block of text`);
  check(result.structuredContent !== undefined, `${about}: no structuredContent`);
  const text = result.content[0].text;
  check(!text.includes("\n"), `${about}: the JSON takes more than one line`);
  check(same(JSON.parse(text), result.structuredContent), `${about}: text and structuredContent differ`);
  return result.structuredContent;
}

function same(one, other) {
  const sorted = (value) =>
    Array.isArray(value)
      ? value.map(sorted)
      : value && typeof value === "object"
        ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
        : value;
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function digest(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

function batches(files) {
  const found = [];
  let batch = [];
  let bytes = 0;
  for (const { path, size } of files) {
    const counted = Math.min(size, BYTES_A_FILE);
    if (batch.length === FILES_A_CALL || (batch.length > 0 && bytes + counted > BYTES_A_CALL)) {
      found.push(batch);
      [batch, bytes] = [[], 0];
    }
    batch.push(path);
    bytes += counted;
  }
  return batch.length > 0 ? [...found, batch] : found;
}

async function refused(what, attempt, expected) {
  try {
    await attempt();
    fail(`${what}: answered`);
  } catch (error) {
    check(expected.test(`${error.code} ${error.message}`), `${what}: refused with ${error.code} ${error.message}`);
  }
}

async function tools(client) {
  const listed = await all((page) => client.listTools(page), "tools");
  for (const name of ["skill_list", "skill_load", "skill_file"]) {
    const tool = listed.find((candidate) => candidate.name === name);
    if (!check(tool, `tools/list has no ${name}`)) continue;
    check(tool.description, `${name} has no description`);
    check(tool.outputSchema?.type === "object", `${name} has no outputSchema`);
    check(tool.annotations?.readOnlyHint === true && tool.annotations.openWorldHint === false, `${name} is not marked read-only and closed`);
  }
  return listed.length;
}

/** Loads every skill and reads every file of it; gives the digest of each file by `name/path`. */
async function skillsByTool(client, least) {
  const digests = new Map();
  const ask = async (page) => (await call(client, "skill_list", page ?? {})) ?? { skills: [] };
  const names = (await all(ask, "skills")).map((skill) => skill.name);
  check(names.length >= least, `skill_list names ${names.length} skills, not ${least}`);
  for (const name of names) {
    const loaded = await call(client, "skill_load", { name });
    if (!loaded) continue;
    check(loaded.name === name && typeof loaded.body === "string", `skill_load ${name}: ${JSON.stringify(loaded).slice(0, 200)}`);
    check(!/^---\r?\n(name|description):/.test(loaded.body), `skill_load ${name}: the frontmatter is in the body`);
    check(loaded.files.some((file) => file.path === "SKILL.md"), `skill_load ${name}: SKILL.md is not among the files`);
    for (const paths of batches(loaded.files)) {
      const read = await call(client, "skill_file", { name, paths });
      if (!read) continue;
      check(same(read.files.map((file) => file.path), paths), `skill_file ${name}: not in the order asked for`);
      for (const file of read.files) {
        if (!check(file.error === undefined, `skill_file ${name}/${file.path}: ${file.error}`)) continue;
        const bytes = Buffer.from(file.content, file.encoding === "base64" ? "base64" : "utf8");
        const size = loaded.files.find((listed) => listed.path === file.path).size;
        check(file.size === size, `skill_file ${name}/${file.path}: ${file.size} bytes, listed with ${size}`);
        check(file.truncated ? bytes.length <= BYTES_A_FILE : bytes.length === size, `skill_file ${name}/${file.path}: ${bytes.length} of ${size} bytes`);
        digests.set(`${name}/${file.path}`, { size, truncated: file.truncated, sha256: digest(bytes) });
      }
    }
  }
  return { names, digests };
}

async function prompts(client, names) {
  const listed = await all((page) => client.listPrompts(page), "prompts");
  for (const prompt of listed) {
    check(names.includes(prompt.name), `the prompt ${prompt.name} is no skill`);
    const args = Object.fromEntries((prompt.arguments ?? []).map((argument) => [argument.name, `word-${argument.name}`]));
    const { messages } = await client.getPrompt({ name: prompt.name, ...(prompt.arguments?.length ? { arguments: args } : {}) });
    check(messages.length > 0 && messages.every((message) => message.content.type !== "text" || message.content.text.length > 0), `prompt ${prompt.name} is empty`);
  }
  return listed.length;
}

async function resources(client, digests) {
  const listed = await all((page) => client.listResources(page), "resources");
  const uris = new Set(listed.map((resource) => resource.uri));
  check(uris.size === listed.length, "resources/list names a URI twice");
  for (const { uri } of listed) {
    const key = decodeURIComponent(uri.replace(/^skill:\/\//, ""));
    const file = digests.get(key);
    if (file && file.size > BYTES_A_RESOURCE) continue;
    const { contents } = await client.readResource({ uri });
    if (!check(contents.length === 1 && contents[0].uri === uri, `resources/read ${uri}: not one content of that URI`)) continue;
    const bytes = contents[0].text !== undefined ? Buffer.from(contents[0].text, "utf8") : Buffer.from(contents[0].blob, "base64");
    if (file && !file.truncated) check(digest(bytes) === file.sha256, `resources/read ${uri}: not what skill_file gave`);
  }
  const decoded = new Set([...uris].map((uri) => decodeURIComponent(uri)));
  if (uris.size >= MAX_RESOURCES) return listed.length;
  for (const key of digests.keys()) check(decoded.has(`skill://${key}`), `no resource for ${key}`);
  return listed.length;
}

/** Reads every file of every entry of the Skills extension; the SDK verifies sizes, digests and frontmatter. */
async function extension(skills) {
  if (!skills) return null;
  if (!check(skills.supported, "the Skills extension is not declared")) return null;
  const { skills: entries } = await skills.list();
  let files = 0;
  for (const entry of entries) {
    const { skill } = await skills.get(entry.uri);
    check(same(skill, entry), `skills/get ${entry.uri} differs from its entry in skills/list`);
    const listed = entry.resources === "dynamic" ? [{ uri: entry.uri }] : entry.resources;
    for (const { uri } of listed) {
      const file = await skills.read(entry, uri);
      check(file.verified || entry.resources === "dynamic", `${uri} was not verified`);
      files += 1;
    }
    if (skills.directoryRead) {
      const { resources: children } = await skills.readDirectory(entry.uri.replace(/\/SKILL\.md$/, ""));
      check(children.some((child) => child.uri === entry.uri || child.uri.endsWith("/SKILL.md")), `${entry.uri}: its directory does not list it`);
    }
  }
  return { skills: entries.length, files };
}

async function hostile(client, name) {
  const { files } = (await call(client, "skill_file", { name, paths: ["../../../etc/passwd", "/etc/passwd", "SKILL.md"] })) ?? { files: [] };
  check(files.length === 3 && files[0].error && files[1].error && !files[2].error, "skill_file: a path out of the skill is not that entry's error alone");
  const unknown = await client.callTool({ name: "skill_load", arguments: { name: "no-such-skill" } });
  check(unknown.isError === true && unknown.content[0].text.includes(name), "skill_load: an unknown name is not answered with the known ones");
  await refused("resources/read of a path out of the skill", () => client.readResource({ uri: `skill://${name}/../../../etc/passwd` }), /-3260[02]|-32002|not found/i);
  await refused("prompts/get of an unknown name", () => client.getPrompt({ name: "no-such-skill" }), /-32602/);
}

function fatal(message) {
  process.stderr.write(`typescript-client.mjs: ${message}\n`);
  process.exit(2);
}

async function main() {
  const options = parse(process.argv.slice(2));
  const summary = { peer: `typescript-${options.sdk}`, era: options.era, transport: options.stdio ? "stdio" : "http" };
  let connected;
  try {
    connected = await connect(options);
    const { client, skills } = connected;
    summary.server = client.getServerVersion()?.version;
    summary.protocol = client.getNegotiatedProtocolVersion?.() ?? client.transport?.protocolVersion;
    check(client.getInstructions?.(), "the server gives no instructions");
    summary.tools = await tools(client);
    const { names, digests } = await skillsByTool(client, Number(options.skills));
    summary.skills = names.length;
    summary.files = digests.size;
    summary.prompts = await prompts(client, names);
    summary.resources = await resources(client, digests);
    summary.extension = await extension(skills);
    if (names.length > 0) await hostile(client, names[0]);
  } catch (error) {
    fail(error.stack ?? error);
  }
  if (connected) {
    // A connection that stays open would keep this process alive for ever.
    await connected.client.close().catch((error) => fail(`close: ${error.message}`));
    const alarm = connected.stderr().split("\n").find((line) => ALARM.test(line));
    check(alarm === undefined, `the server warned: ${alarm}`);
  }
  summary.failures = failures.slice(0, MAX_FAILURES);
  summary.failed = failures.length;
  process.stdout.write(JSON.stringify(summary) + "\n");
  process.exitCode = failures.length === 0 ? 0 : 1;
}

await main();
