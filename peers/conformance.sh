#!/usr/bin/env bash
# Runs the scenarios of the MCP conformance suite that concern a server of skills against one over HTTP.
#
#   KITBAG_PEERS=DIR peers/conformance.sh URL TOKEN_FILE [OUTPUT_DIR]
#
# The suite knows no option for headers, so `bearer.mjs` puts the token into what it sends. One line per scenario; the
# code is 1 if any check failed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
fail() {
  echo "peers/conformance.sh: $*" >&2
  exit 2
}
[ $# -ge 2 ] || fail "usage: KITBAG_PEERS=DIR peers/conformance.sh URL TOKEN_FILE [OUTPUT_DIR]"
node=${KITBAG_PEERS:?}/bin/node
suite=$KITBAG_PEERS/node_modules/@modelcontextprotocol/conformance/dist/index.js
[ -x "$node" ] && [ -f "$suite" ] || fail "the suite is missing: run peers/install.sh $KITBAG_PEERS"

export KITBAG_URL=$1 KITBAG_TOKEN_FILE=$2
if [ $# -ge 3 ]; then
  output=$3
else
  output=$(mktemp -d)
  trap 'rm -rf "$output"' EXIT
fi

failed=0
for scenario in sep-2640-skills-enumeration sep-2640-skills-manifest sep-2640-skills-directory; do
  code=0
  # `--force`: the suite keeps extensions off the timeline of versions, and would skip them in silence.
  "$node" --import "$here/bearer.mjs" "$suite" server --url "$KITBAG_URL" --scenario "$scenario" \
    --spec-version 2026-07-28 --force --output-dir "$output/$scenario" >"$output/log" 2>&1 || code=$?
  # The bundle is minified: only short lines of a failure are worth showing.
  "$node" "$here/checks.mjs" "$scenario" "$code" "$output/$scenario" || {
    failed=1
    cut -c1-300 "$output/log" >&2
  }
done
exit $failed
