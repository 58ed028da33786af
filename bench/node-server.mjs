// A server of skills on Node and the official SDK, as small as one can be: what a first attempt would look like.
// It reads the name and description of every skill at start, and offers three tools. For bench/start.py.

import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.KITBAG_PEERS ?? process.argv[3] ?? process.cwd(), "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { McpServer } = await load("@modelcontextprotocol/sdk/server/mcp.js");
const { StdioServerTransport } = await load("@modelcontextprotocol/sdk/server/stdio.js");
const { z } = await load("zod");

const root = process.argv[2];
const skills = new Map();
for (const entry of readdirSync(root)) {
  const text = readFileSync(join(root, entry, "SKILL.md"), "utf8");
  const field = (name) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(text)?.[1] ?? "";
  skills.set(entry, { description: field("description"), body: text.replace(/^---\n[\s\S]*?\n---\n/, "") });
}

const server = new McpServer({ name: "node", version: "1" });
const text = (value) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
server.registerTool("skill_list", { description: "Lists skills", inputSchema: {} }, async () =>
  text([...skills].map(([name, { description }]) => ({ name, description }))));
server.registerTool("skill_load", { description: "Loads a skill", inputSchema: { name: z.string() } }, async ({ name }) =>
  text(skills.get(name)));
server.registerTool(
  "skill_file",
  { description: "Reads files", inputSchema: { name: z.string(), paths: z.array(z.string()) } },
  async ({ name, paths }) => text(paths.map((path) => readFileSync(join(root, name, path), "utf8"))),
);
await server.connect(new StdioServerTransport());
