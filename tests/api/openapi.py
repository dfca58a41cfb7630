"""Holds `checkfu serve` to its own OpenAPI document: no 5xx, no status, type or field that it does not tell of.

Usage: openapi.py BINARY. Runs `schemathesis` of the same environment with a fixed seed, then every operation
without a token. Exit 0: all holds.
"""

import json
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "sdk"))

from anthropic import Anthropic  # noqa: E402
from harness import Workspace  # noqa: E402

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
# How often a path names something that is there; else it is made up.
THERE = 0.8
# These end what they name, and then nothing more is answered about it: they get what is made up.
ENDS = "archive|redact|revoke|release|transfer|/end"


def seeded(workspace, token):
    """One of everything, and the paths that name it."""
    client = Anthropic(base_url=workspace.url, api_key=token, max_retries=0)
    agent = client.beta.agents.create(name="Agent", model="claude-sonnet-5", system="Be brief.").id
    client.beta.agents.create(name="Lead", model="claude-sonnet-5", multiagent={"type": "coordinator", "agents": [agent]})
    environment = client.beta.environments.create(name="environment").id
    head = b"---\nname: notes\ndescription: Writes notes.\n---\n\nWrite.\n"
    skill = client.skills.create(files=[("notes/SKILL.md", head)])
    store = client.beta.memory_stores.create(name="Store").id
    memory = client.beta.memory_stores.memories.create(store, path="/a/b.md", content="x")
    file = client.files.upload(file=("a.txt", b"x", "text/plain")).id

    def post(path, body):
        return client.post(path, body=body, cast_to=object)["id"]

    tree = post("/v1/file_trees", {"name": "Tree", "source": {"kind": "upload"}})
    mount = {"agent_id": agent, "mount_path": "/mnt/memory/a", "memory_store_id": store}
    memory_mount = post("/v1/memory_mounts", mount)
    mount = {"agent_id": agent, "mount_path": "/workspace/a", "file_tree_id": tree}
    file_tree_mount = post("/v1/file_tree_mounts", mount)
    return {
        "agents": {"id": agent},
        "environments": {"id": environment},
        "skills": {"id": skill.id, "version": skill.latest_version_id},
        "memory_stores/{id}/memor": {"id": store, "memory": memory.id, "version": memory.memory_version_id},
        "memory_stores": {"id": store},
        "files": {"id": file},
        "file_trees": {"id": tree},
        "memory_mounts": {"id": memory_mount},
        "file_tree_mounts": {"id": file_tree_mount},
    }


def configuration(named, epoch):
    """What `schemathesis` reads: which paths name what is there, and an epoch that is the workspace's."""
    lines = ["[dictionaries.epoch]", f"values = {json.dumps([epoch])}", "[parameters]"]
    lines.append(f'"header.checkfu-epoch" = {{ dictionary = "epoch", probability = {THERE} }}')
    for collection, names in named.items():
        for name, value in names.items():
            lines += [f"[dictionaries.{words(collection, name)}]", f"values = {json.dumps([value])}"]
    for collection, names in named.items():
        path = "^/v1/" + re.escape(collection if "{" in collection else collection + "/{id}")
        if collection == "memory_stores":
            path += "(?!/memor)"
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
    _, about = status_of(f"{workspace.url}/v1/workspace", "GET", token)
    written = configuration(seeded(workspace, token), json.loads(about)["epoch"])
    (workspace.root / "schemathesis.toml").write_text(written)
    tool = pathlib.Path(sys.executable).parent / "schemathesis"
    command = [
        str(tool), "run", f"{workspace.url}/openapi.json",
        "--header", f"Authorization: Bearer {token}",
        "--phases", "examples,coverage,fuzzing",
        # It would end its own token, of which `tokens.list` tells, and be nobody from then on.
        "--exclude-operation-id", "tokens.revoke",
        "--checks", ",".join(CHECKS),
        "--seed", SEED, "--generation-deterministic", "--max-examples", EXAMPLES,
        "--suppress-health-check", "all", "--continue-on-failure", "--no-shrink",
        "--generation-with-security-parameters", "false", "--warnings", "off", "--no-color",
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


def reached(workspace):
    """From the server's log: which operations were carried out, and which only ever refused."""
    done, refused, count = set(), set(), 0
    for line in (workspace.root / "server.log").read_text(encoding="utf-8").splitlines():
        if not line.startswith("{"):
            continue
        entry, count = json.loads(line), count + 1
        if entry.get("operation"):
            (done if entry["status"] == 200 else refused).add(entry["operation"])
    print(f"{count} requests; {len(done)} operations were carried out, only refused were:")
    print("  " + (", ".join(sorted(refused - done)) or "none"))


def main(binary):
    with Workspace(binary) as workspace:
        token = workspace.token("fuzz", "admin", "*")
        failed = strangers(workspace, token) or fuzz(workspace, token)
        reached(workspace)
        return failed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
