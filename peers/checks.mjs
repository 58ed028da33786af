// Sums up what one scenario of the conformance suite wrote: `checks.mjs SCENARIO EXIT_CODE OUTPUT_DIR`.
// Prints one line of JSON; exit code 0 only if checks ran, all of them passed, and the suite ended well.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [scenario, code, dir] = process.argv.slice(2);
const files = existsSync(dir) ? readdirSync(dir, { recursive: true }).filter((name) => name.endsWith("checks.json")) : [];
const checks = files.flatMap((name) => JSON.parse(readFileSync(join(dir, name), "utf8")));
const bad = checks.filter((check) => check.status === "FAILURE" || check.status === "WARNING");
const passed = checks.filter((check) => check.status === "SUCCESS").length;
const failures = bad.map((check) => `${check.id}: ${String(check.errorMessage ?? check.description).slice(0, 200)}`);
if (code !== "0") failures.push(`the suite ended with ${code}`);
// A scenario that the suite skips ends with 0 and writes nothing.
if (passed === 0) failures.push("no check ran");
process.stdout.write(JSON.stringify({ peer: "conformance", scenario, passed, failed: failures.length, failures }) + "\n");
process.exitCode = failures.length === 0 ? 0 : 1;
