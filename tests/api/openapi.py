"""Holds `checkfu serve` to its own OpenAPI document: no 5xx, no status, type or field that it does not tell of.

Usage: openapi.py BINARY. Calls every operation without a token, then runs `schemathesis` of the same environment with
a fixed seed, on a workspace that `seeds.py` fills. Exit 0: all holds, and each operation was carried out at least once.
"""

import json
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sdk"))

from harness import Workspace  # noqa: E402
from seeds import OWNER, seeded  # noqa: E402

SEED = "20261130"
EXAMPLES = "8"
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]
OPEN = {"/healthz", "/readyz"}
# Operations that nothing carries out, and why.
NEVER = {"files.content": "uploads cannot be downloaded, and nothing else makes files"}
# How often a path or a header names something that is there; else it is made up.
THERE = 0.8
# These end what they name, and then nothing more is answered about it: they get what is made up.
ENDS = "archive|redact|revoke|release|transfer|/end"


def configuration(named, headers):
    """What `schemathesis` reads: which paths and headers name what is there."""
    lines = [f'hooks = "{HERE / "hooks.py"}"']
    for name, value in headers.items():
        lines += [f"[dictionaries.{name}]", f"values = {json.dumps([value])}"]
    lines.append("[parameters]")
    for name in headers:
        lines.append(f'"header.checkfu-{name}" = {{ dictionary = "{name}", probability = {THERE} }}')
    for collection, names in named.items():
        for name, value in names.items():
            lines += [f"[dictionaries.{words(collection, name)}]", f"values = {json.dumps([value])}"]
    for collection, names in named.items():
        path = "^/v1/" + re.escape(collection if "{" in collection else collection + "/{")
        if collection == "memory_stores":
            path += "(?!id}/memor)"
        lines += [
            "[[operations]]",
            f"include-path-regex = {json.dumps(path)}",
            'include-method = ["GET", "POST"]',
            f"exclude-path-regex = {json.dumps(ENDS)}",
            "[operations.parameters]",
        ]
        for name in names:
            binding = f'{{ dictionary = "{words(collection, name)}", probability = {THERE} }}'
            lines.append(f'"path.{name}" = {binding}')
    return "\n".join(lines) + "\n"


def words(collection, name):
    return re.sub("[^a-z]+", "-", f"{collection}-{name}")


def fuzz(workspace, token):
    """Generated requests, valid and not, with a token that may do everything."""

    def read(path):
        return json.loads(status_of(workspace.url + path, "GET", token)[1])

    seeds, named = seeded(workspace.url, token)
    headers = {"epoch": read("/v1/workspace")["epoch"], "owner": OWNER, "apply": seeds.apply}
    (workspace.root / "schemathesis.toml").write_text(configuration(named, headers))
    own = next(t["id"] for t in read("/v1/tokens")["data"] if t["name"] == "fuzz")
    kept = {"tokens.revoke": [own], "applies.end": [seeds.apply]}
    given = {"calls": seeds.calls, "headers": headers, "kept": kept}
    (workspace.root / "given.json").write_text(json.dumps(given))
    tool = pathlib.Path(sys.executable).parent / "schemathesis"
    command = [
        str(tool), "run", f"{workspace.url}/openapi.json",
        "--header", f"Authorization: Bearer {token}",
        "--phases", "examples,coverage,fuzzing",
        "--checks", ",".join(CHECKS),
        "--seed", SEED, "--generation-deterministic", "--max-examples", EXAMPLES,
        "--suppress-health-check", "all", "--continue-on-failure", "--no-shrink",
        "--generation-with-security-parameters", "false", "--warnings", "off", "--no-color",
    ]  # fmt: skip
    return subprocess.run(command, cwd=workspace.root, env=workspace.env(PYTHONDONTWRITEBYTECODE="1")).returncode


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


def reached(workspace, token):
    """Every operation of the document was answered with 2xx, but those that never are."""
    _, text = status_of(f"{workspace.url}/openapi.json", "GET", token)
    rows = [row for item in json.loads(text)["paths"].values() for row in item.values()]
    statuses = {row["operationId"]: set() for row in rows}
    count = 0
    for line in (workspace.root / "answered.jsonl").read_text(encoding="utf-8").splitlines():
        operation, status = json.loads(line)
        statuses[operation].add(status)
        count += 1
    done = {operation for operation, seen in statuses.items() if 200 in seen}
    missed = sorted(statuses.keys() - done - NEVER.keys())
    print(f"{count} requests; {len(done)} of {len(statuses)} operations were carried out")
    for operation in missed:
        print(f"  {operation} was not: {sorted(statuses[operation])}")
    wrong = sorted(done & NEVER.keys())
    for operation in wrong:
        print(f"  {operation} was, and is listed as what never is")
    return 1 if missed or wrong else 0


def main(binary):
    with Workspace(binary) as workspace:
        token = workspace.token("fuzz", "admin", "*")
        return strangers(workspace, token) or fuzz(workspace, token) or reached(workspace, token)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
