// Loaded before the conformance suite (`node --import`), which has no option for headers: adds the bearer token to what
// it sends to the server under test, and to nothing else. The suite itself and the server stay as they are.

import { readFileSync } from "node:fs";

const target = new URL(process.env.KITBAG_URL);
const authorization = `Bearer ${readFileSync(process.env.KITBAG_TOKEN_FILE, "utf8").trim()}`;

const plainFetch = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const request = new Request(input, init);
  if (new URL(request.url).origin === target.origin) request.headers.set("Authorization", authorization);
  return plainFetch(request);
};
