"""Holds `checkfu serve` to its own OpenAPI document: no 5xx, no status, type or field that it does not tell of.

Usage: openapi.py BINARY. Runs `schemathesis` of the same environment with a fixed seed, then every operation
without a token. Exit 0: all holds.
"""

import json
import os
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sdk"))

from harness import Workspace  # noqa: E402

SEED = "20261130"
EXAMPLES = "12"
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]
OPEN = {"/healthz", "/readyz"}


def fuzz(workspace, token):
    """Generated requests, valid and not, with a token that may do everything."""
    tool = pathlib.Path(sys.executable).parent / "schemathesis"
    command = [
        str(tool), "run", f"{workspace.url}/openapi.json",
        "--header", f"Authorization: Bearer {token}",
        "--phases", "examples,coverage,fuzzing",
        "--checks", ",".join(CHECKS),
        "--seed", SEED, "--generation-deterministic", "--max-examples", EXAMPLES,
        "--suppress-health-check", "all", "--continue-on-failure", "--no-shrink",
        "--warnings", "off", "--no-color",
    ]  # fmt: skip
    return subprocess.run(command, cwd=workspace.root, env=workspace.env()).returncode


def status_of(url, method, token=None):
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
    data = b"{}" if method == "POST" else None
    request = urllib.request.Request(url, method=method, headers=headers, data=data)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()


def strangers(workspace, token):
    """What answers without a token, and with a wrong one."""
    _, text = status_of(f"{workspace.url}/openapi.json", "GET", token)
    bad = []
    count = 0
    for path, item in json.loads(text)["paths"].items():
        for method in item:
            filled = "/".join("x" if part.startswith("{") else part for part in path.split("/"))
            for secret in [None, "cfu_wrong"]:
                status, _ = status_of(workspace.url + filled, method.upper(), secret)
                count += 1
                wanted = 200 if path in OPEN else 401
                if status != wanted:
                    bad.append(f"{method.upper()} {path} with {secret or 'no token'}: {status}, not {wanted}")
    print(f"{count} calls without a token, {len(bad)} answered as they must not")
    for line in bad:
        print(f"  {line}")
    return 1 if bad else 0


def main(binary):
    with Workspace(binary) as workspace:
        token = workspace.token("fuzz", "admin", "*")
        return strangers(workspace, token) or fuzz(workspace, token)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
