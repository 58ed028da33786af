// Turns a length of time into seconds. Types that can be stripped and the standard library of Node are all it uses,
// so that Deno, Bun and Node run it alike.

import process from "node:process";

interface Call {
  protocol: 1;
  args: { text: string };
}

const units: Record<string, number> = { d: 86400, h: 3600, m: 60, s: 1 };

const chunks: Uint8Array[] = [];
for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array);
const call = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Call;

const text = call.args.text;
const counts = new Map<string, number>();
for (const [, count, unit] of text.matchAll(/([0-9]+)([dhms])/g)) {
  if (counts.has(unit)) {
    console.error(`the unit \`${unit}\` is given twice in \`${text}\``);
    process.exit(2);
  }
  counts.set(unit, Number(count));
}
const parts = Object.keys(units).filter((unit) => counts.has(unit));
const seconds = parts.reduce((sum, unit) => sum + counts.get(unit)! * units[unit], 0);
process.stdout.write(JSON.stringify({ seconds, parts: parts.map((unit) => `${counts.get(unit)}${unit}`) }));
