#!/usr/bin/env bash
# Checks the GitHub of the tests, and the client, against the description that GitHub publishes: Prism stands between the
# two and refuses what leaves it. Needs npm; without it nothing is checked, and that is said.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

if ! command -v npm >/dev/null; then
  echo "npm is missing: the GitHub of the tests is not checked against GitHub's description"
  exit 0
fi

tools="${CARGO_TARGET_DIR:-target}/github"
mkdir -p "$tools"
if ! cmp -s tests/github/package-lock.json "$tools/pins"; then
  cp tests/github/package.json tests/github/package-lock.json "$tools/"
  if ! timeout 300 npm ci --prefix "$tools" --ignore-scripts --no-audit --no-fund --silent; then
    echo "npm cannot fetch what is needed: the GitHub of the tests is not checked against GitHub's description"
    exit 0
  fi
  cp tests/github/package-lock.json "$tools/pins"
fi

tools=$(cd "$tools" && pwd)
CHECKFU_TEST_PRISM="$tools/node_modules/@stoplight/prism-cli/dist/index.js" \
  CHECKFU_TEST_OPENAPI="$tools/node_modules/@octokit/openapi/generated/api.github.com.json" \
  cargo test --locked --quiet --test it -- --ignored --exact forge::this_github_is_as_github_describes_itself
