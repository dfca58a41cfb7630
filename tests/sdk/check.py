"""Drives `checkfu serve` with the public `anthropic` SDK, which must work against it unchanged.

Usage: check.py BINARY. Exit 0: all checks hold.
"""

import hashlib
import io
import sys
import zipfile

import anthropic
from anthropic import Anthropic, AuthenticationError, BadRequestError, ConflictError, NotFoundError
from anthropic import PermissionDeniedError
from anthropic.types import FileNotDownloadableError
from anthropic.types.beta import BetaEnvironmentArchivedError, BetaEnvironmentNotFoundError, BetaInvalidConfigTypeChangeError
from harness import Checks, Workspace
from owned import owned
from pulled import pulled

MODEL = "claude-sonnet-5"
SKILL = b"---\nname: release-notes\ndescription: Writes release notes.\n---\n\n# Release notes\n\nList what changed.\n"


def code_of(error):
    """`error.details.error_code` of a refusal."""
    return ((error.body or {}).get("error", {}).get("details") or {}).get("error_code") if error else None


def reaches(check, workspace, client):
    """Tokens, both ways to send one, and what a call without one is told."""
    for name, options in [("bearer", {}), ("x-api-key", {"default_headers": {"x-api-key": client.api_key}})]:
        key = None if "default_headers" in options else client.api_key
        headers = options.get("default_headers")
        one = Anthropic(base_url=workspace.url, api_key=key or "", max_retries=0, default_headers=headers)
        if headers:
            one = one.with_options(default_headers={**headers, "Authorization": anthropic.Omit()})
        check.equal(f"a token as {name}", one.beta.agents.list().data, [])
    wrong = client.with_options(api_key="cfu_wrong")
    error = check.refused("a wrong token", AuthenticationError, wrong.beta.agents.list, status_code=401)
    check.equal("its type", error and error.body["error"]["type"], "authentication_error")
    reader = client.with_options(api_key=workspace.token("reader", "read"))
    check.equal("a reader reads", reader.beta.agents.list().data, [])
    check.refused(
        "a reader does not write", PermissionDeniedError, lambda: reader.beta.agents.create(name="a", model=MODEL)
    )
    raw = client.beta.agents.with_raw_response.list()
    check.that("an answer has its request id", raw.headers["request-id"].startswith("req_"))
    both = {"anthropic-beta": "agent-memory-2026-07-22,managed-agents-2026-04-01"}
    check.refused("two betas", BadRequestError, lambda: client.beta.memory_stores.list(extra_headers=both))


def agents(check, client):
    api = client.beta.agents
    bare = api.create(name="Bare", model=MODEL)
    check.typed("a bare agent", bare)
    check.equal("its version", bare.version, 1)
    check.equal("its model", bare.model.id, MODEL)
    check.equal("its effort is resolved", bare.model.effort and bare.model.effort.type, "high")
    check.equal("its speed is resolved", bare.model.speed, "standard")
    empty = (bare.description, bare.system, bare.multiagent, bare.tools, bare.mcp_servers, bare.skills, bare.metadata)
    check.equal("what it lacks is there", empty, (None, None, None, [], [], [], {}))
    check.equal("as whom it acts", bare.execution_identity.type, "service_account")
    check.equal("it is not archived", bare.archived_at, None)
    check.equal("it reads as it was answered", api.retrieve(bare.id).to_dict(), without_written(bare))

    full = api.create(
        name="Full",
        model={"id": MODEL, "effort": "low", "speed": "standard"},
        description="Answers.",
        system="Be brief.",
        metadata={"team": "support", "tier": "1"},
        mcp_servers=[{"type": "url", "name": "crm", "url": "https://crm.example.com/mcp"}],
        tools=[
            {"type": "agent_toolset_20260401", "configs": [{"name": "bash", "enabled": False}]},
            {"type": "mcp_toolset", "mcp_server_name": "crm", "configs": [{"name": "find"}]},
            {
                "type": "custom",
                "name": "lookup",
                "description": "Looks up.",
                "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
            },
        ],
    )
    check.typed("a full agent", full)
    built_in, mcp, custom = full.tools
    check.equal("the default of built-in tools", built_in.default_config.permission_policy.type, "always_allow")
    check.equal("a config of a built-in tool", (built_in.configs[0].type, built_in.configs[0].enabled), ("bash", False))
    check.equal("its policy is resolved", built_in.configs[0].permission_policy.type, "always_allow")
    check.equal("the default of MCP tools", mcp.default_config.permission_policy.type, "always_ask")
    check.equal("a config of an MCP tool", (mcp.configs[0].name, mcp.configs[0].enabled), ("find", True))
    check.equal("a custom tool", custom.input_schema.required, ["id"])
    check.equal("the effort that was sent", full.model.effort.type, "low")

    two = api.update(full.id, version=1, description="Answers well.")
    check.typed("an update", two)
    check.equal("it makes the next version", (two.version, two.description, two.system), (2, "Answers well.", "Be brief."))
    error = check.refused("a stale version", ConflictError, lambda: api.update(full.id, version=1, name="x"))
    check.equal("its code", code_of(error), "validation.conflict")
    check.equal("its type", error and error.body["error"]["type"], "conflict_error")
    check.equal("it is not to be sent again", error and error.response.headers.get("x-should-retry"), "false")
    check.refused(
        "a stale version with what is there", ConflictError, lambda: api.update(full.id, version=1, name="Full")
    )
    check.equal("nothing to change", api.update(full.id, version=2, name="Full").version, 2)
    check.equal("without a version", api.update(full.id, system="Be kind.").version, 3)
    merged = api.update(full.id, metadata={"tier": None, "region": "eu", "note": ""})
    check.equal("metadata merges", merged.metadata, {"team": "support", "region": "eu", "note": ""})
    cleared = api.update(full.id, description=None, system="", tools=[], mcp_servers=None)
    check.equal("fields clear", (cleared.description, cleared.system, cleared.tools, cleared.mcp_servers), (None, None, [], []))
    kept = api.update(full.id, model={"id": MODEL, "speed": "standard"})
    check.equal("effort stays with the model", kept.model.effort.type, "low")
    check.refused("a name cannot be empty", BadRequestError, lambda: api.update(full.id, name=""))
    check.refused("an agent needs a model", BadRequestError, lambda: api.create(name="x", model=""))
    check.equal("an old version", api.retrieve(full.id, version=1).description, "Answers.")
    check.refused("a version that is none", NotFoundError, lambda: api.retrieve(full.id, version=99))
    check.refused("an agent that is none", NotFoundError, lambda: api.retrieve("agent_none"), status_code=404)

    numbers = [a.version for a in api.versions.list(full.id, limit=2)]
    check.equal("versions over several pages", numbers, list(range(kept.version, 0, -1)))
    for version in api.versions.list(full.id):
        check.typed(f"version {version.version}", version)
    made = [api.create(name=f"Page {n}", model=MODEL).id for n in range(7)]
    page = api.list(limit=3)
    check.equal("a page", (len(page.data), page.next_page is None), (3, False))
    listed = [a for a in api.list(limit=3)]
    check.equal("all pages", {a.id for a in listed}, {bare.id, full.id, *made})
    check.equal("each once", len(listed), len(made) + 2)
    check.typed("an agent in a list", listed[0])
    check.refused("no page of 0", BadRequestError, lambda: api.list(limit=0))

    lead = api.create(
        name="Lead", model=MODEL, multiagent={"type": "coordinator", "agents": [bare.id, {"type": "agent", "id": made[0]}]}
    )
    check.typed("a coordinator", lead)
    check.equal("its roster is resolved", [(a.type, a.id, a.version) for a in lead.multiagent.agents],
                [("agent", bare.id, 1), ("agent", made[0], 1)])
    newer = api.create(
        name="Newer",
        model=MODEL,
        multiagent={"type": "multiagent_20261001", "subagents": {"type": "enabled", "predefined_agents": [bare.id]}},
    )
    check.typed("the newer form", newer)
    form = newer.multiagent
    check.equal("its parts are resolved", (form.advisor.type, form.subagents.inline_agents.type, form.workflows.type),
                ("disabled", "enabled", "enabled"))

    gone = api.archive(bare.id)
    check.typed("an archived agent", gone)
    check.that("it says when", gone.archived_at is not None)
    check.refused("it takes no change", BadRequestError, lambda: api.update(bare.id, name="x"))
    check.that("lists leave it out", bare.id not in {a.id for a in api.list()})
    check.that("unless they are asked", bare.id in {a.id for a in api.list(include_archived=True)})


def without_written(found):
    """What a write answers, less the part that says what it did."""
    return {key: value for key, value in found.to_dict().items() if key != "written"}


def environments(check, client):
    api = client.beta.environments
    bare = api.create(name="default")
    check.typed("a bare environment", bare)
    check.equal("its description", bare.description, None)
    check.equal("its networking", bare.config.networking.type, "unrestricted")
    packages = bare.config.packages
    lists = [packages.apt, packages.cargo, packages.gem, packages.go, packages.npm, packages.pip]
    check.equal("its package lists", lists, [[]] * 6)
    check.refused("its name is taken", ConflictError, lambda: api.create(name="default"))
    limited = api.create(
        name="limited",
        description="",
        config={
            "type": "cloud",
            "networking": {"type": "limited", "allowed_hosts": ["*.example.com"], "allow_package_managers": True},
            "packages": {"pip": ["ruff==0.8.0"]},
        },
        metadata={"team": "a", "tier": "1"},
    )
    check.typed("a limited environment", limited)
    check.equal("its switches", limited.config.networking.allow_mcp_servers, False)
    check.equal("an empty description is kept", limited.description, "")
    changed = api.update(limited.id, config={"type": "cloud", "packages": {"npm": ["left-pad"]}}, metadata={"tier": ""})
    check.equal("config merges", (changed.config.packages.pip, changed.config.packages.npm), (["ruff==0.8.0"], ["left-pad"]))
    check.equal("an empty label is removed", changed.metadata, {"team": "a"})
    check.refused(
        "another type of config",
        BetaInvalidConfigTypeChangeError,
        lambda: api.update(limited.id, config={"type": "self_hosted"}),
    )
    own = api.create(name="own", config={"type": "self_hosted"})
    check.typed("a self-hosted environment", own)
    check.equal("its config", own.config.to_dict(), {"type": "self_hosted"})
    check.equal("a list", {e.id for e in api.list(limit=1)}, {bare.id, limited.id, own.id})
    check.equal("one by its id", api.retrieve(own.id).name, "own")
    archived = api.archive(own.id)
    check.that("archived", archived.archived_at is not None)
    check.refused("it takes no change", BetaEnvironmentArchivedError, lambda: api.update(own.id, name="x"))
    deleted = api.delete(bare.id)
    check.typed("a deletion", deleted)
    check.equal("its type", deleted.type, "environment_deleted")
    check.refused("it is gone", BetaEnvironmentNotFoundError, lambda: api.retrieve(bare.id))


def zipped(files):
    """One zip of a skill, with the mode of each file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, (data, mode) in files.items():
            info = zipfile.ZipInfo(f"release-notes/{path}")
            info.create_system = 3
            info.external_attr = (0o100000 | mode) << 16
            archive.writestr(info, data)
    return out.getvalue()


def unzipped(data):
    """Files of a downloaded skill: bytes, and may they be executed?"""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {
            info.filename: (archive.read(info), bool((info.external_attr >> 16) & 0o111)) for info in archive.infolist()
        }


def skills(check, client):
    api = client.skills
    files = [("release-notes/SKILL.md", SKILL), ("release-notes/references/a.md", b"# A\n")]
    made = api.create(files=files, display_name="Release notes")
    check.typed("a skill from files", made)
    check.equal("its shown name", made.display_name, "Release notes")
    check.equal("its source", made.source.type, "custom")
    check.equal("the custom ones", [s.id for s in api.list(source="custom")], [made.id])
    check.equal("there are no others", list(api.list(source="anthropic")), [])
    check.that("its version", made.latest_version_id.startswith("skver_"), made.latest_version_id)
    first = api.versions.retrieve(made.latest_version_id, skill_id=made.id)
    check.typed("its version", first)
    check.equal("what it says", (first.name, first.description), ("release-notes", "Writes release notes."))
    content = {"SKILL.md": (SKILL, 0o644), "scripts/run.sh": (b"#!/bin/sh\necho hi\n", 0o755)}
    second = api.versions.create(made.id, files=[("skill.zip", zipped(content))])
    check.typed("a version from a zip", second)
    check.equal("it is the skill's", second.skill_id, made.id)
    check.equal("it is the newest", api.retrieve(made.id).latest_version_id, second.id)
    check.equal("as latest", api.versions.retrieve("latest", skill_id=made.id).id, second.id)
    check.equal("versions", [v.id for v in api.versions.list(made.id, limit=1)], [second.id, first.id])
    for version in api.versions.list(made.id):
        check.typed("a version in a list", version)

    def download(version):
        return client.beta.skills.versions.download(version, skill_id=made.id).read()

    wanted = {f"release-notes/{p}": (data, bool(mode & 0o111)) for p, (data, mode) in content.items()}
    check.equal("a download is what was sent", unzipped(download(second.id)), wanted)
    check.equal("the first one too", unzipped(download(first.id)), {path: (data, False) for path, data in files})
    check.equal("a download is always the same bytes", download(second.id), download(second.id))
    other = api.create(files=[("skill.zip", zipped(content))])
    check.equal("a name from its files", other.display_name, "release-notes")
    renamed = SKILL.replace(b"release-notes", b"other-name")
    check.refused(
        "another skill's files",
        BadRequestError,
        lambda: api.versions.create(made.id, files=[("other-name/SKILL.md", renamed)]),
    )
    check.refused("no SKILL.md", BadRequestError, lambda: api.create(files=[("x/README.md", b"x")]))
    check.equal("a list", {s.id for s in api.list(limit=1)}, {made.id, other.id})
    agent = client.beta.agents.create(
        name="Writer", model=MODEL, skills=[{"type": "custom", "skill_id": made.id}, {"type": "anthropic", "skill_id": "xlsx"}]
    )
    check.typed("an agent with skills", agent)
    check.that("their versions are texts", all(isinstance(s.version, str) for s in agent.skills), agent.skills)
    check.refused("what is used stays", ConflictError, lambda: api.delete(made.id))
    check.equal("a version is deleted", api.versions.delete(first.id, skill_id=made.id).type, "skill_version_deleted")
    check.refused("not the only one", BadRequestError, lambda: api.versions.delete(second.id, skill_id=made.id))
    gone = api.delete(other.id)
    check.typed("a deletion", gone)
    check.equal("its type", gone.type, "skill_deleted")
    check.refused("it is gone", NotFoundError, lambda: api.retrieve(other.id))


def stores(check, client):
    api = client.beta.memory_stores
    store = api.create(name="Answers")
    check.typed("a bare store", store)
    check.equal("its description", store.description, "")
    check.equal("its metadata", store.metadata, {})
    changed = api.update(store.id, description="Approved answers.", metadata={"team": "a"})
    check.equal("an update", (changed.description, changed.metadata), ("Approved answers.", {"team": "a"}))
    check.equal("a description clears", api.update(store.id, description="").description, "")
    others = [api.create(name="Answers").id for _ in range(3)]
    check.equal("names repeat, pages too", {s.id for s in api.list(limit=2)}, {store.id, *others})
    before = api.retrieve(store.id).updated_at
    memories(check, client, store.id)
    check.equal("memories do not touch it", api.retrieve(store.id).updated_at, before)
    archived = api.archive(store.id)
    check.that("archived", archived.archived_at is not None)
    check.typed("archived once more", api.archive(store.id))
    check.refused(
        "it takes no memory",
        BadRequestError,
        lambda: api.memories.create(store.id, path="/late.md", content="x"),
    )
    check.that("its memories are read", len(api.memories.list(store.id).data) > 0)
    gone = api.delete(store.id)
    check.typed("a deletion", gone)
    check.equal("its type", gone.type, "memory_store_deleted")


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def memories(check, client, store):
    api = client.beta.memory_stores.memories
    one = api.create(store, path="/a/one.md", content="one")
    check.typed("a memory", one)
    check.equal("without its content", one.content, None)
    check.equal("with its digest", (one.content_sha256, one.content_size_bytes), (digest("one"), 3))
    check.equal("with its content, if asked", api.create(store, path="/a/two.md", content="two", view="full").content, "two")
    api.create(store, path="/a/b/three.md", content="")
    error = check.refused("a path that is taken", ConflictError, lambda: api.create(store, path="/a/one.md", content="x"))
    check.equal("its type", error and error.body["error"]["type"], "memory_path_conflict_error")
    check.equal("who has it", error and error.body["error"].get("conflicting_memory_id"), one.id)
    read = api.retrieve(one.id, memory_store_id=store)
    check.typed("a memory that is read", read)
    check.equal("its content", read.content, "one")
    guard = {"type": "content_sha256", "content_sha256": digest("other")}
    stale = check.refused(
        "a stale precondition",
        ConflictError,
        lambda: api.update(one.id, memory_store_id=store, content="1", precondition=guard),
    )
    check.equal("its type", stale and stale.body["error"]["type"], "memory_precondition_failed_error")
    guard["content_sha256"] = digest("one")
    changed = api.update(one.id, memory_store_id=store, content="eins", precondition=guard, view="full")
    check.equal("a change", (changed.id, changed.content), (one.id, "eins"))
    same = api.update(one.id, memory_store_id=store, content="eins")
    check.equal("nothing to change", same.memory_version_id, changed.memory_version_id)
    moved = api.update(one.id, memory_store_id=store, path="/c/one.md")
    check.equal("a rename keeps the id", (moved.id, moved.path), (one.id, "/c/one.md"))
    check.equal("all", {m.path for m in api.list(store, limit=2)}, {"/c/one.md", "/a/two.md", "/a/b/three.md"})
    below = [(m.type, m.path) for m in api.list(store, path_prefix="/a/", depth=1)]
    check.equal("a level", sorted(below), [("memory", "/a/two.md"), ("memory_prefix", "/a/b/")])
    for item in api.list(store, depth=1, view="full"):
        check.typed("an item of a level", item)
    check.equal("contents in a list", {m.content for m in api.list(store, view="full")}, {"eins", "two", ""})
    for path in ["a.md", "/a/../b", "/a//b", "/"]:
        check.refused(f"no path: {path}", BadRequestError, lambda: api.create(store, path=path, content="x"))
    check.refused("too large", BadRequestError, lambda: api.create(store, path="/l", content="x" * 102_401))
    check.refused(
        "a stale delete",
        ConflictError,
        lambda: api.delete(one.id, memory_store_id=store, expected_content_sha256=digest("one")),
    )
    gone = api.delete(one.id, memory_store_id=store, expected_content_sha256=digest("eins"))
    check.typed("a deletion", gone)
    check.equal("its type", (gone.type, gone.id), ("memory_deleted", one.id))
    check.refused("it is gone", NotFoundError, lambda: api.retrieve(one.id, memory_store_id=store))

    versions = client.beta.memory_stores.memory_versions
    history = list(versions.list(store, memory_id=one.id, limit=2))
    check.equal("its history", [v.operation for v in history], ["deleted", "modified", "modified", "created"])
    for version in history:
        check.typed(f"a version that was {version.operation}", version)
    check.equal("a page holds no content", {v.content for v in history}, {None})
    first = versions.retrieve(history[-1].id, memory_store_id=store)
    check.equal("one has", (first.content, first.path), ("one", "/a/one.md"))
    check.equal("by whom", first.created_by.type, "api_actor")
    check.equal("by operation", [v.id for v in versions.list(store, operation="deleted")], [history[0].id])
    redacted = versions.redact(first.id, memory_store_id=store)
    check.typed("a redaction", redacted)
    held = (redacted.content, redacted.path, redacted.content_sha256, redacted.content_size_bytes)
    check.equal("nothing of it is left", held, (None, None, None, None))
    check.that("it says when and by whom", redacted.redacted_at and redacted.redacted_by)
    two = next(m for m in api.list(store, path_prefix="/a/", view="full") if m.path == "/a/two.md")
    check.refused(
        "what is there now is not redacted",
        BadRequestError,
        lambda: versions.redact(two.memory_version_id, memory_store_id=store),
    )


def files(check, client):
    api = client.files
    text = api.upload(file=("notes.txt", b"hello", "text/plain"))
    check.typed("a file", text)
    check.equal("what it is", (text.filename, text.mime_type, text.size_bytes), ("notes.txt", "text/plain", 5))
    check.equal("it cannot be downloaded", text.downloadable, False)
    kept = api.upload(file=("dir/b.bin", bytes(range(256))), expires_in_seconds=3600)
    check.equal("the last part of its name", kept.filename, "b.bin")
    check.that("it says when it ends", kept.expires_at is not None)
    more = [api.upload(file=(f"{n}.txt", b"x")).id for n in range(3)]
    listed = [f.id for f in api.list(limit=2)]
    check.equal("the newest first, over pages", listed, [*reversed(more), kept.id, text.id])
    check.equal("by id", {f.id for f in api.list(ids=[text.id, "file_none"])}, {text.id})
    read = api.retrieve_metadata(text.id)
    check.typed("its metadata", read)
    check.equal("as uploaded", read.to_dict(), without_written(text))
    error = check.refused("a download", FileNotDownloadableError, lambda: api.download(text.id), status_code=400)
    check.equal("its code", code_of(error), "file_not_downloadable")
    check.refused("kept too short", BadRequestError, lambda: api.upload(file=("x", b"x"), expires_in_seconds=60))
    gone = api.delete(text.id)
    check.typed("a deletion", gone)
    check.equal("its type", gone.type, "file_deleted")
    check.refused("it is gone", NotFoundError, lambda: api.retrieve_metadata(text.id))


def main(binary):
    check = Checks()
    with Workspace(binary) as workspace:
        admin = workspace.token("admin", "admin", "*")
        client = Anthropic(base_url=workspace.url, api_key=admin, max_retries=0)
        check.group("reach", reaches, workspace, client)
        for group in [agents, environments, skills, stores, files]:
            check.group(group.__name__, group, client)
        check.group("owned", owned, workspace, client)
        check.group("pulled", pulled, workspace, client)
    check.equal("the server ended well", workspace.ended, 0)
    return check.end()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
