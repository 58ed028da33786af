// Uses a kitbag server through the command line of the MCP inspector, one process a request, as a person would.
//
//   KITBAG_PEERS=DIR DIR/bin/node inspector.mjs --inspector v1|v2 --era legacy|modern [--skills N] [--limit N]
//       ( --stdio COMMAND [ARGUMENT...] | --url URL --token-file FILE )
//
// Prints one line of JSON. Exit code 0 only if nothing failed and nobody warned. `--limit` bounds how many skills are
// loaded, read and asked for, since each request starts a process; 10 if left out. Paths among the arguments must be
// absolute: v1 runs in its own folder.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const FILES_A_CALL = 8;
const MAX_FAILURES = 20;
const MAX_OUTPUT = 64 * 1024 * 1024;
const ALARM = /\b(warn(ing)?s?|errors?|failed|panick?ed|deprecated)\b/i;
// What the inspector itself says when all is well.
const FINE = /^(\d+ errors?, 0 warnings across|Schema portability: 0 errors, 0 warnings|Verified \d+ skills?.*no conformance errors)/;

const failures = [];
function check(holds, what) {
  if (!holds) failures.push(String(what).slice(0, 500));
  return Boolean(holds);
}

function parse(words) {
  const options = { inspector: "v2", era: "legacy", skills: 1, limit: 10 };
  for (let at = 0; at < words.length; at += 1) {
    const name = words[at].replace(/^--/, "");
    if (name === "stdio") return { ...options, stdio: words.slice(at + 1) };
    options[name] = words[(at += 1)];
  }
  return options;
}

const options = parse(process.argv.slice(2));
const packages = resolve(process.env.KITBAG_PEERS ?? "", "node_modules/@modelcontextprotocol");
// The first line of releases looks for its own package.json beside the working directory.
const cwd = options.inspector === "v1" ? join(packages, "inspector-cli/build") : process.cwd();
const program =
  options.inspector === "v1" ? [join(cwd, "index.js")] : [join(packages, "inspector/clients/launcher/build/index.js"), "--cli"];
if (!existsSync(program[0])) {
  process.stderr.write(`inspector.mjs: ${program[0]} is missing: run peers/install.sh ${process.env.KITBAG_PEERS ?? "DIR"}\n`);
  process.exit(2);
}
const home = mkdtempSync(join(tmpdir(), "kitbag-inspector-"));

function inspect(method, extra = [], expect = 0) {
  const [command, ...args] = options.stdio ?? [options.url];
  const words = [...program, options.stdio ? resolve(command) : command, ...args, "--method", method, ...extra];
  if (!options.stdio) {
    const token = readFileSync(options["token-file"], "utf8").trim();
    words.push("--transport", "http", "--header", `Authorization: Bearer ${token}`);
  }
  if (options.inspector === "v2") words.push("--protocol-era", options.era);
  const ran = spawnSync(process.execPath, words, {
    cwd,
    encoding: "utf8",
    maxBuffer: MAX_OUTPUT,
    timeout: 120_000,
    env: { ...process.env, HOME: home, NO_COLOR: "1" },
  });
  const about = `${method} ${extra.join(" ").slice(0, 120)}`;
  check(ran.status === expect, `${about}: exit code ${ran.status}: ${ran.stderr.slice(0, 300)}`);
  if (expect === 0) {
    const alarm = ran.stderr.split("\n").find((line) => ALARM.test(line) && !FINE.test(line.trim()));
    check(alarm === undefined, `${about}: ${alarm}`);
  }
  return ran;
}

function json(method, extra) {
  const { stdout } = inspect(method, extra);
  try {
    return JSON.parse(stdout);
  } catch {
    check(false, `${method}: no JSON: ${stdout.slice(0, 200)}`);
    return {};
  }
}

function call(tool, args) {
  const pairs = Object.entries(args).map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const result = json("tools/call", ["--tool-name", tool, ...(pairs.length > 0 ? ["--tool-arg", ...pairs] : [])]);
  check(!result.isError && result.structuredContent, `${tool} ${pairs.join(" ").slice(0, 120)}: ${result.content?.[0]?.text}`);
  return result.structuredContent ?? {};
}

function main() {
  const summary = { peer: `inspector-${options.inspector}`, era: options.era, transport: options.stdio ? "stdio" : "http" };
  try {
    const tools = json("tools/list", options.inspector === "v2" ? ["--strict"] : []).tools ?? [];
    for (const name of ["skill_list", "skill_load", "skill_file"]) check(tools.some((tool) => tool.name === name), `no tool ${name}`);
    summary.tools = tools.length;
    const skills = call("skill_list", {}).skills ?? [];
    check(skills.length >= Number(options.skills), `skill_list names ${skills.length} skills, not ${options.skills}`);
    summary.skills = skills.length;
    const prompts = json("prompts/list").prompts ?? [];
    check(prompts.length > 0, "prompts/list is empty");
    summary.prompts = prompts.length;
    const resources = json("resources/list").resources ?? [];
    summary.resources = resources.length;
    summary.used = { skills: 0, files: 0, prompts: 0, resources: 0 };

    for (const { name } of skills.slice(0, Number(options.limit))) {
      const loaded = call("skill_load", { name });
      check(loaded.body?.length > 0, `skill_load ${name}: no body`);
      summary.used.skills += 1;
      const paths = (loaded.files ?? []).map((file) => file.path);
      for (let at = 0; at < paths.length; at += FILES_A_CALL) {
        for (const file of call("skill_file", { name, paths: paths.slice(at, at + FILES_A_CALL) }).files ?? []) {
          check(file.error === undefined, `skill_file ${name}/${file.path}: ${file.error}`);
          summary.used.files += 1;
        }
      }
      const prompt = prompts.find((candidate) => candidate.name === name);
      if (prompt) {
        const given = (prompt.arguments ?? []).map((argument) => `${argument.name}=word`);
        const { messages } = json("prompts/get", ["--prompt-name", name, ...(given.length > 0 ? ["--prompt-args", ...given] : [])]);
        check(messages?.[0]?.content?.text?.length > 0, `prompt ${name} is empty`);
        summary.used.prompts += 1;
      }
      for (const { uri } of resources.filter((resource) => resource.uri.startsWith(`skill://${name}/`))) {
        const { contents } = json("resources/read", ["--uri", uri]);
        check(contents?.length === 1, `resources/read ${uri}: not one content`);
        summary.used.resources += 1;
      }
    }
    inspect("resources/read", ["--uri", "skill://no-such-skill/SKILL.md"], 1);

    if (options.inspector === "v2") {
      const reports = inspect("skills/list", ["--verify", "--require-digests"]).stdout.trim().split("\n").map((line) => JSON.parse(line));
      for (const report of reports) check(report.ok === true && report.outcome === "verified", `skills/list --verify ${report.uri}: ${JSON.stringify(report).slice(0, 300)}`);
      summary.verified = reports.length;
    }
  } catch (error) {
    check(false, error.stack ?? error);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  summary.failures = failures.slice(0, MAX_FAILURES);
  summary.failed = failures.length;
  process.stdout.write(JSON.stringify(summary) + "\n");
  process.exitCode = failures.length === 0 ? 0 : 1;
}

main();
