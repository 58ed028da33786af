// Measures the WCAG 2 contrast of colour pairs and finds the nearest colours that pass.
// The answer depends on the arguments alone. JSON goes to standard output, complaints to standard error.

const MAX_PAIRS = 40;
const MAX_COLOR = 64;
const LEVELS = [
  ["AA large text and graphics", 3],
  ["AA text", 4.5],
  ["AAA large text", 4.5],
  ["AAA text", 7],
];

const USAGE = `usage: contrast.mjs [--target RATIO] FOREGROUND/BACKGROUND...

Measure the WCAG 2 contrast of up to ${MAX_PAIRS} colour pairs, as JSON, and find the nearest colours that pass.

  --target RATIO  the ratio to reach, 1 to 21 (default: 4.5)
  --help          show this text

Colours: #rgb, #rgba, #rrggbb, #rrggbbaa, rgb(), rgba(), hsl(), hsla(), black, white.
Exit codes: 0 all pass, 1 at least one fails, 2 something cannot be read.
`;

class Complaint extends Error {}

/** A colour as { r, g, b } from 0 to 255 and alpha `a` from 0 to 1. */
function parseColor(text) {
  const written = text.trim().toLowerCase();
  if (written.length > MAX_COLOR) throw new Complaint(`a colour is longer than ${MAX_COLOR} characters`);
  if (written === "black") return { r: 0, g: 0, b: 0, a: 1 };
  if (written === "white") return { r: 255, g: 255, b: 255, a: 1 };
  if (/^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.test(written)) {
    const digits = written.length <= 5 ? [...written.slice(1)].map((digit) => digit + digit).join("") : written.slice(1);
    const [r, g, b, a = 255] = digits.match(/../g).map((pair) => parseInt(pair, 16));
    return { r, g, b, a: a / 255 };
  }
  const call = /^(rgb|hsl)a?\(([^()]*)\)$/.exec(written);
  if (!call) throw new Complaint(`\`${text}\` is not a colour this script knows`);
  const parts = call[2].trim().split(/\s*[,/]\s*|\s+/);
  if (parts.length < 3 || parts.length > 4) throw new Complaint(`\`${text}\` needs three or four values`);
  const a = parts.length === 4 ? clamp(number(parts[3], 1, text), 0, 1) : 1;
  if (call[1] === "rgb") {
    const [r, g, b] = parts.slice(0, 3).map((part) => clamp(number(part, 255, text), 0, 255));
    return { r, g, b, a };
  }
  const hue = number(parts[0].replace(/deg$/, ""), 360, text);
  const [s, l] = parts.slice(1, 3).map((part) => {
    if (!part.endsWith("%")) throw new Complaint(`\`${text}\`: saturation and lightness are percentages`);
    return clamp(number(part, 1, text), 0, 1);
  });
  return { ...fromHsl({ h: ((hue % 360) + 360) % 360, s, l }), a };
}

/** A number, or a percentage of `whole`. */
function number(text, whole, color) {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)%?$/.test(text)) throw new Complaint(`\`${color}\`: \`${text}\` is not a number`);
  return text.endsWith("%") ? (parseFloat(text) / 100) * whole : parseFloat(text);
}

function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

function toHsl({ r, g, b }) {
  const [red, green, blue] = [r / 255, g / 255, b / 255];
  const max = Math.max(red, green, blue);
  const min = Math.min(red, green, blue);
  const l = (max + min) / 2;
  const spread = max - min;
  if (spread === 0) return { h: 0, s: 0, l };
  const s = spread / (1 - Math.abs(2 * l - 1));
  let h;
  if (max === red) h = ((green - blue) / spread + 6) % 6;
  else if (max === green) h = (blue - red) / spread + 2;
  else h = (red - green) / spread + 4;
  return { h: h * 60, s, l };
}

function fromHsl({ h, s, l }) {
  const channel = (n) => {
    const k = (n + h / 30) % 12;
    return 255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return { r: channel(0), g: channel(8), b: channel(4) };
}

/** The colour as a screen shows it: whole channels, no alpha. */
function rounded({ r, g, b }) {
  return { r: Math.round(r), g: Math.round(g), b: Math.round(b) };
}

function over(front, back) {
  const mix = (name) => front[name] * front.a + back[name] * (1 - front.a);
  return rounded({ r: mix("r"), g: mix("g"), b: mix("b") });
}

/** Relative luminance, as WCAG 2 defines it. */
function luminance({ r, g, b }) {
  const linear = (channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function hex({ r, g, b }) {
  return "#" + [r, g, b].map((channel) => channel.toString(16).padStart(2, "0")).join("");
}

/** Two decimals, cut: a ratio just short of its target must not look as if it had reached it. */
function cut(ratio) {
  return Math.floor(ratio * 100 + 1e-9) / 100;
}

/** The colour of the same hue and saturation that reaches `target` against `fixed` with the least change of lightness. */
function nearest(color, fixed, target) {
  const { h, s, l } = toHsl(color);
  const steps = 1000;
  const start = Math.round(l * steps);
  for (let distance = 1; distance <= steps; distance += 1) {
    for (const step of [start - distance, start + distance]) {
      if (step < 0 || step > steps) continue;
      const candidate = rounded(fromHsl({ h, s, l: step / steps }));
      const ratio = contrast(candidate, fixed);
      if (ratio >= target) return { color: hex(candidate), ratio: cut(ratio) };
    }
  }
  return null;
}

function measure(pair, target) {
  // A slash also separates alpha inside `rgb(0 0 0 / 50%)`, so only one outside parentheses divides the pair.
  const sides = pair.split(/\/(?![^(]*\))/);
  if (sides.length !== 2) throw new Complaint(`\`${pair.slice(0, 2 * MAX_COLOR)}\` is not FOREGROUND/BACKGROUND`);
  const [front, back] = sides.map(parseColor);
  if (back.a !== 1) throw new Complaint(`\`${sides[1].trim()}\`: flatten a translucent background over what lies below it first`);
  const background = rounded(back);
  const foreground = over(front, background);
  const ratio = contrast(foreground, background);
  const result = {
    pair,
    ratio: cut(ratio),
    passes: ratio >= target,
    levels: LEVELS.filter(([, needed]) => ratio >= needed).map(([name]) => name),
    foreground: hex(foreground),
    background: hex(background),
  };
  if (!result.passes) {
    result.nearest = {
      foreground: nearest(foreground, background, target),
      background: nearest(background, foreground, target),
    };
  }
  return result;
}

function parseArguments(words) {
  let target = 4.5;
  const pairs = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === "--help" || word === "-h") return { help: true };
    if (word === "--target" || word.startsWith("--target=")) {
      const value = word === "--target" ? (words[(at += 1)] ?? "") : word.slice("--target=".length);
      target = /^\d+(\.\d+)?$/.test(value) ? Number(value) : NaN;
      if (!(target >= 1 && target <= 21)) throw new Complaint(`the target \`${value}\` is not a ratio from 1 to 21`);
    } else if (word.startsWith("-")) {
      throw new Complaint(`unknown option \`${word}\``);
    } else {
      pairs.push(word);
    }
  }
  if (pairs.length === 0) throw new Complaint("no pair given; see --help");
  if (pairs.length > MAX_PAIRS) throw new Complaint(`more than ${MAX_PAIRS} pairs`);
  return { target, pairs };
}

function main() {
  try {
    const { help, target, pairs } = parseArguments(process.argv.slice(2));
    if (help) {
      process.stdout.write(USAGE);
      return 0;
    }
    const results = pairs.map((pair) => measure(pair, target));
    const failed = results.filter((result) => !result.passes).length;
    process.stdout.write(JSON.stringify({ target, passed: results.length - failed, failed, results }, null, 2) + "\n");
    return failed === 0 ? 0 : 1;
  } catch (problem) {
    if (!(problem instanceof Complaint)) throw problem;
    process.stderr.write(`contrast.mjs: ${problem.message}\n`);
    return 2;
  }
}

process.exitCode = main();
