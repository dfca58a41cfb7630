#!/usr/bin/env bash
# Makes sample.png of sample.md, as a code host shows it. Needs chromium and Python 3; it installs cmarkgfm in a folder
# for temporary files. Not run in CI: look at the picture before it is committed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check cmarkgfm
"$work/venv/bin/python" "$here/picture.py" "$here/sample.md" > "$work/sample.html"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="940,${1:-2000}" \
  --screenshot="$here/sample.png" "file://$work/sample.html" >/dev/null 2>&1
ls -l "$here/sample.png"
