"""A workspace with one of everything, and for each operation of the document a request that succeeds on it.

What a request ends (archives, deletes, releases) is its own, so that the order of requests does not matter.
"""

import base64
import hashlib
import json
import urllib.request

from anthropic import Anthropic

OWNER = "acme/support"
OTHER = "acme/other"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Seeds:
    """Makes what is needed, and keeps `calls`: operation id -> the request that must be answered with 2xx."""

    def __init__(self, url, token):
        self.client = Anthropic(base_url=url, api_key=token, max_retries=0)
        self.url, self.token = url, token
        self.calls = {}
        self.apply = None

    def post(self, path, body, owner=None):
        headers = {"Checkfu-Owner": owner} if owner else {}
        return self.client.post(path, body=body, cast_to=object, options={"headers": headers})

    def made(self, collection, body, owner=None):
        """The id of a new resource."""
        return self.post(f"/v1/{collection}", body, owner)["id"]

    def blob(self, data):
        """The digest of bytes that the workspace holds from now on."""
        request = urllib.request.Request(
            f"{self.url}/v1/blobs?digest={digest(data)}",
            data=data,
            headers={"authorization": f"Bearer {self.token}", "content-type": "application/octet-stream"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 200
        return digest(data)

    def content(self, path, data):
        """One file whose bytes are held, as a publish names it."""
        entry = {"path": path, "size": len(data), "sha256": self.blob(data)}
        rows = json.dumps([[path, "100644", entry["size"], entry["sha256"]]], separators=(",", ":"))
        return {"entries": [entry], "digest": digest(rows.encode())}

    def call(self, operation, body=None, by=None, *, data=None, query=None, apply=None, **path):
        """The request of an operation: with a body, or with bytes; by an owner, for an apply."""
        headers = {"checkfu-owner": by} if by else {}
        headers |= {"checkfu-apply": apply} if apply else {}
        made = {"path_parameters": path, "headers": headers, "query": query or {}}
        if data is not None:
            made |= {"bytes": base64.b64encode(data).decode(), "media_type": "application/octet-stream"}
        elif body is not None:
            made |= {"body": body, "media_type": "application/json"}
        self.calls[operation] = made

    def owned(self, number):
        """A resource of the owner, as an operation on its authoring names it."""
        name = f"owned-{number}"
        claim = {"address": f"Environment/{name}", "applied": {"spec": {"name": name}}}
        found = self.post("/v1/environments", {"name": name, "authoring": claim}, OWNER)
        return {"at": {"id": found["id"], "version": found["version"]}, "seq": found["authoring"]["seq"]}


def seeded(url, token):
    """The calls, and by collection the ids that its paths are filled with."""
    seeds = Seeds(url, token)
    begin = {"plan_digest": digest(b"plan"), "owner": OWNER, "source": {"path": ""}, "addresses": []}
    seeds.apply = seeds.post("/v1/applies", begin, OWNER)["id"]
    seeds.call("applies.begin", begin, OWNER)
    line = {"action": "Agent/x#update", "outcome": "stale", "operation": "agents.update"}
    ended = seeds.post("/v1/applies", begin, OWNER)["id"]
    seeds.call("applies.end", {"outcome": "partial", "lines": [line]}, OWNER, id=ended)
    seeds.call("applies.list", query={"owner": OWNER})
    seeds.call("applies.get", id=seeds.apply)
    seeds.call("applies.state", query={"limit": 10}, id=ended)
    named = {"applies": {"id": seeds.apply}}
    named |= agents_and_environments(seeds)
    agent = named["agents"]["id"]
    named |= skills(seeds) | file_trees(seeds, agent) | memory_stores(seeds, agent) | files_and_blobs(seeds)
    authoring(seeds, agent)
    others(seeds)
    return seeds, named


def reads(seeds, collection, id, owned=("list", "get")):
    for verb in owned:
        seeds.call(f"{collection}.{verb}", **({} if verb == "list" else {"id": id}))


def agents_and_environments(seeds):
    body = {"name": "Agent", "model": "claude-sonnet-5", "system": "Be brief."}
    agent = seeds.made("agents", body)
    team = {"type": "coordinator", "agents": [agent]}
    seeds.made("agents", {"name": "Lead", "model": "claude-sonnet-5", "multiagent": team})
    claim = {"address": "Agent/claimed", "applied": {"spec": {"name": "claimed"}}}
    seeds.call("agents.create", body | {"authoring": claim}, OWNER, apply=seeds.apply)
    seeds.call("agents.update", {"version": 1, "system": "Be kind.", "metadata": {"team": "a"}}, id=agent)
    seeds.call("agents.archive", {"expected_version": 1}, id=seeds.made("agents", body))
    reads(seeds, "agents", agent, ("list", "get", "versions"))

    environment = seeds.made("environments", {"name": "environment"})
    seeds.call("environments.create", {"name": "created", "config": {"type": "cloud"}})
    seeds.call("environments.update", {"description": "It is used."}, id=environment)
    seeds.call("environments.archive", {}, id=seeds.made("environments", {"name": "archived"}))
    seeds.call("environments.delete", id=seeds.made("environments", {"name": "deleted"}))
    reads(seeds, "environments", environment)
    return {"agents": {"id": agent}, "environments": {"id": environment}}


def skills(seeds):
    def head(name, text="Write."):
        return f"---\nname: {name}\ndescription: Writes notes.\n---\n\n{text}\n".encode()

    def skill(name):
        return seeds.client.skills.create(files=[(f"{name}/SKILL.md", head(name))])

    kept, doomed = skill("notes"), skill("doomed")
    seeds.call("skills.create", {"name": "made", "content": seeds.content("SKILL.md", head("made"))})
    seeds.call("skills.publish", {"content": seeds.content("SKILL.md", head("notes", "Write more."))}, id=kept.id)
    at = {"id": kept.id, "version": kept.latest_version_id}
    for verb in ["version", "content"]:
        seeds.call(f"skills.{verb}", **at)
    more = seeds.post(f"/v1/skills/{kept.id}/versions", {"content": seeds.content("SKILL.md", head("notes", "Less."))})
    seeds.call("skills.delete_version", id=kept.id, version=more["id"])
    seeds.call("skills.delete", id=doomed.id)
    reads(seeds, "skills", kept.id, ("list", "get", "versions"))
    return {"skills": at}


def file_trees(seeds, agent):
    def tree(name):
        body = {"name": name, "source": {"kind": "upload"}, "content": seeds.content("a/b.txt", name.encode())}
        return seeds.made("file_trees", body)

    kept = tree("tree")
    made = {"name": "made", "source": {"kind": "upload"}, "content": seeds.content("a/b.txt", b"made")}
    seeds.call("file_trees.create", made)
    seeds.call("file_trees.update", {"name": "tree-2"}, id=kept)
    seeds.call("file_trees.archive", {}, id=tree("archived"))
    seeds.call("file_trees.publish", {"content": seeds.content("a/b.txt", b"y")}, id=kept)
    reads(seeds, "file_trees", kept, ("list", "get", "versions"))
    at = {"id": kept, "version": "1"}
    for verb in ["version", "tree"]:
        seeds.call(f"file_trees.{verb}", **at)
    seeds.call("file_trees.file", query={"path": "a/b.txt"}, **at)
    named = mounts(seeds, "file_tree_mounts", {"agent_id": agent, "file_tree_id": kept}, "/workspace")
    seeds.calls["file_tree_mounts.update"]["body"] = {"selection": {"kind": "pinned", "revision": 1}}
    return named | {"file_trees": at}


def mounts(seeds, collection, body, below):
    def at(name):
        return body | {"mount_path": f"{below}/{name}"}

    kept = seeds.made(collection, at("kept"))
    seeds.call(f"{collection}.create", at("made"))
    seeds.call(f"{collection}.update", {"instructions": "Read it."}, id=kept)
    seeds.call(f"{collection}.delete", id=seeds.made(collection, at("deleted")))
    reads(seeds, collection, kept)
    return {collection: {"id": kept}}


def memory_stores(seeds, agent):
    kept = seeds.made("memory_stores", {"name": "Store"})
    seeds.call("memory_stores.create", {"name": "Made"})
    seeds.call("memory_stores.update", {"description": "What is known."}, id=kept)
    seeds.call("memory_stores.archive", {}, id=seeds.made("memory_stores", {"name": "Archived"}))
    seeds.call("memory_stores.delete", id=seeds.made("memory_stores", {"name": "Deleted"}))
    puts = {"expect": {"/put.md": None}, "puts": {"/put.md": seeds.blob(b"put")}, "deletes": []}
    seeds.call("memory_stores.write_contents", puts, id=kept)
    reads(seeds, "memory_stores", kept, ("list", "get", "versions"))
    seeds.call("memory_stores.version", id=kept, version="1")

    def memory(path):
        return seeds.client.beta.memory_stores.memories.create(kept, path=path, content="x")

    one, doomed = memory("/a/b.md"), memory("/a/c.md")
    seeds.call("memories.create", {"path": "/made.md", "content": "made"}, id=kept)
    seeds.call("memories.list", query={"view": "full", "limit": 20}, id=kept)
    seeds.call("memories.get", id=kept, memory=one.id)
    held = {"type": "content_sha256", "content_sha256": hashlib.sha256(b"x").hexdigest()}
    seeds.call("memories.update", {"content": "y", "precondition": held}, id=kept, memory=one.id)
    seeds.call("memories.delete", id=kept, memory=doomed.id)
    seeds.call("memory_versions.list", query={"view": "full", "limit": 20}, id=kept)
    seeds.call("memory_versions.get", id=kept, version=one.memory_version_id)
    redacted = memory("/a/d.md")
    memories = seeds.client.beta.memory_stores.memories
    memories.update(redacted.id, memory_store_id=kept, content="z")
    seeds.call("memory_versions.redact", {}, id=kept, version=redacted.memory_version_id)
    named = mounts(seeds, "memory_mounts", {"agent_id": agent, "memory_store_id": kept}, "/mnt/memory")
    return named | {
        "memory_stores/{id}/memor": {"id": kept, "memory": one.id, "version": one.memory_version_id},
        "memory_stores": {"id": kept, "version": "1"},
    }


def files_and_blobs(seeds):
    def file(name):
        return seeds.client.files.upload(file=(name, b"x", "text/plain")).id

    kept = file("a.txt")
    held = seeds.blob(b"hello")
    body = {"filename": "b.txt", "mime_type": "text/plain", "digest": held, "size": 5}
    seeds.call("files.create", body)
    seeds.call("files.delete", id=file("c.txt"))
    seeds.call("files.content", id=kept)
    reads(seeds, "files", kept)
    seeds.call("blobs.put", data=b"put", query={"digest": digest(b"put")})
    seeds.call("blobs.get", digest=held)
    seeds.call("blobs.missing", {"digests": [held, digest(b"nowhere")]})
    return {"files": {"id": kept}, "blobs": {"digest": held}}


def authoring(seeds, agent):
    applied = {"spec": {"name": "x"}, "unowned": []}
    found = seeds.post("/v1/environments", {"name": "unowned"})
    at = {"at": {"id": found["id"], "version": found["version"]}, "seq": 0}
    seeds.call("authoring.claim", {"at": at, "claim": {"address": "Environment/new", "applied": applied}}, OWNER)
    seeds.call("authoring.release", seeds.owned(1), OWNER)
    seeds.call("authoring.hand_over", {"at": seeds.owned(2), "to": OTHER, "address": "Environment/two"}, OWNER)
    moved = {"at": seeds.owned(3), "from": OWNER, "to": OTHER, "address": "Environment/three"}
    seeds.call("authoring.transfer", moved, OWNER)
    seeds.call("authoring.protect", {"at": seeds.owned(4), "protected": True}, OWNER)
    seeds.call("authoring.record", {"at": seeds.owned(5), "applied": applied}, OWNER)
    seeds.call("authoring.policy", {"seq": 0, "policy": {"max_retire": 3}}, "acme/policy", owner="acme/policy")
    seeds.call("authoring.owner", owner=OWNER)
    seeds.call("authoring.summaries", query={"owner": OWNER, "kind": "Environment"})
    seeds.call("authoring.find", {"me": OTHER, "addresses": ["Environment/two"], "ids": [agent]})
    seeds.call("authoring.bodies", {"ids": [agent, seeds.owned(6)["at"]["id"]], "me": OWNER})
    wants = [{"key": "Environment/owned-6"}, {"key": f"{OTHER}:Skill/none"}]
    seeds.call("authoring.resolve", {"me": OWNER, "wants": wants})
    seeds.call("authoring.referrers", query={"ids": [agent], "me": OWNER})


def others(seeds):
    seeds.call("audit.list", query={"owner": OWNER})
    seeds.call("workspace.get")
    token = {"name": "ci", "scope": "apply", "owners": ["acme/*"], "actor_kind": "api"}
    seeds.call("tokens.create", token)
    seeds.call("tokens.list")
    revoked = seeds.post("/v1/tokens", token | {"name": "revoked"})["token"]["id"]
    seeds.call("tokens.revoke", {}, id=revoked)
    for own in ["healthz", "readyz", "metrics", "openapi"]:
        seeds.call(own)
