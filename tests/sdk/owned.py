"""What `checkfu apply` made belongs to its owner: an edit through the SDK is refused, or seen as drift."""

from anthropic import ConflictError, PermissionDeniedError

OWNER = "acme/support"
AGENT = """---
name: Support
description: Answers questions.
model: claude-sonnet-5
tools: [{type: agent_toolset_20260401}]
labels: {team: support}
---
Answer in one sentence.
"""
STORE = """apiVersion: checkfu.com/v1
kind: MemoryStore
metadata: {name: answers}
spec:
  description: Answers that a person approved
  contents:
    - {path: notes, at: /notes, mode: enforce}
"""
WHY = "the pager at night"


def project(workspace, owner, more=""):
    """A project whose target is the server."""
    root = workspace.root / owner.replace("/", "-")
    (root / "agents").mkdir(parents=True)
    (root / "memory" / "notes").mkdir(parents=True)
    (root / "agents" / "support.md").write_text(AGENT)
    (root / "memory" / "answers.yaml").write_text(STORE)
    (root / "memory" / "notes" / "one.md").write_text("One.\n")
    (root / "checkfu.yaml").write_text(
        "apiVersion: checkfu.com/v1\nkind: Config\n"
        f"authoring_owner: {owner}\n"
        f'targets: {{team: {{kind: checkfu, url: "{workspace.url}", token: {{env: TEAM_TOKEN}}}}}}\n{more}'
    )
    return root


def owner_of(found):
    """What the SDK has no field for is carried along."""
    return (found.to_dict().get("authoring") or {}).get("owner")


def owned(check, workspace, client):
    token = workspace.token("ci", "apply", "acme/*")

    def run(root, *args, codes=(0,)):
        return workspace.run(*args, cwd=root, codes=codes, TEAM_TOKEN=token)

    root = project(workspace, OWNER)
    run(root, "apply", "--yes")
    plan = run(root, "plan", "--detailed-exitcode")
    check.equal("after an apply there is nothing to do", (plan["actions"], plan["held"]), ([], []))

    agents = client.beta.agents
    agent = next(a for a in agents.list() if a.name == "Support")
    check.typed("an agent that was applied", agent)
    check.equal("its prompt", agent.system, "Answer in one sentence.")
    check.equal("its labels", agent.metadata, {"team": "support"})
    check.equal("whose it is", owner_of(agent), OWNER)
    store = next(s for s in client.beta.memory_stores.list() if s.name == "answers")
    memory = next(iter(client.beta.memory_stores.memories.list(store.id)))
    check.equal("a memory that was applied", memory.path, "/notes/one.md")

    refused = check.refused(
        "an edit of an owned agent", ConflictError, lambda: agents.update(agent.id, system="x"), status_code=409
    )
    if refused is not None:
        error = refused.body["error"]
        check.equal("its code", error["details"]["error_code"], "authoring.owned_elsewhere")
        check.that("it names the owner", OWNER in error["message"] or error["details"].get("owner") == OWNER, error)
        check.equal("in its details", error["details"].get("owner"), OWNER)
        check.equal("it is not to be sent again", refused.response.headers.get("x-should-retry"), "false")
    check.refused("an archive of it", ConflictError, lambda: agents.archive(agent.id))
    check.refused(
        "an owned memory",
        ConflictError,
        lambda: client.beta.memory_stores.memories.update(memory.id, memory_store_id=store.id, content="x"),
    )
    check.refused("an owned store", ConflictError, lambda: client.beta.memory_stores.delete(store.id))
    check.equal("nothing changed", agents.retrieve(agent.id).version, 1)

    writer = client.with_options(
        api_key=workspace.token("writer", "apply", "other/*"), default_headers={"Checkfu-Break-Glass": WHY}
    )
    check.refused(
        "break-glass needs admin", PermissionDeniedError, lambda: writer.beta.agents.update(agent.id, system="x")
    )
    breaking = client.with_options(default_headers={"Checkfu-Break-Glass": WHY})
    edited = breaking.beta.agents.update(agent.id, system="Shout.", metadata={"urgent": "yes"})
    check.typed("an edit by break-glass", edited)
    check.equal("it is done", (edited.version, edited.system), (2, "Shout."))
    plan = run(root, "plan", codes=(0, 3, 4))
    held = {h["field"]: h for h in plan["held"]}
    check.equal("the plan holds it", sorted(held), ["instructions", "labels.urgent"])
    one = held.get("instructions", {})
    check.equal("with who", one.get("actor"), "admin")
    check.equal("with why", one.get("break_glass"), WHY)
    check.equal("with what", (one.get("applied"), one.get("live")), ("Answer in one sentence.", "Shout."))
    check.equal("and changes nothing by itself", plan["actions"], [])
    run(root, "apply", "--yes", "--revert-all", codes=(0,))
    check.equal("put back when asked", agents.retrieve(agent.id).system, "Answer in one sentence.")

    tracked(check, workspace, client, run)


def tracked(check, workspace, client, run):
    """Under `outside_writes: track` an edit needs no break-glass, and is seen all the same."""
    root = project(workspace, "acme/tracked", "policy: {outside_writes: track}\n")
    # The same files as the other project's: they mean other resources.
    run(root, "apply", "--yes", "--allow", "same-name")
    agent = next(a for a in client.beta.agents.list() if owner_of(a) == "acme/tracked")
    edited = client.beta.agents.update(agent.id, description="Edited by hand.")
    check.equal("an edit is taken", edited.description, "Edited by hand.")
    plan = run(root, "plan", codes=(0, 3, 4))
    held = [(h["field"], h["actor"], h["live"]) for h in plan["held"]]
    check.equal("the plan holds it", held, [("description", "admin", "Edited by hand.")])
    run(root, "apply", "--yes")
    check.equal("an apply leaves it", client.beta.agents.retrieve(agent.id).description, "Edited by hand.")
