"""What the SDK made and nobody owns becomes a project: pulled, adopted without a changed field, then nothing to do."""

OWNER = "acme/pulled"


def files(root):
    """The files of a project; what the tool keeps for itself is none of it."""
    paths = (p.relative_to(root) for p in sorted(root.rglob("*")) if p.is_file())
    return {str(p): (root / p).read_bytes() for p in paths if p.parts[0] != ".checkfu"}


def pulled(check, workspace, client):
    token = workspace.token("puller", "apply", "acme/*")
    root = workspace.root / "pulled"
    root.mkdir()

    def run(*args, codes=(0,)):
        return workspace.run(*args, cwd=root, codes=codes, CHECKFU_API_KEY=token)

    # It has skills and no tool to read them with, which no project may declare.
    for agent in [a for a in client.beta.agents.list() if a.name == "Writer"]:
        client.beta.agents.archive(agent.id)
    client.beta.agents.create(name="Reviewer (EU): all", model="claude-sonnet-5", system="Be brief.\n\n---\n")
    store = client.beta.memory_stores.create(name="Learned", metadata={"team": "eu"})
    client.beta.memory_stores.memories.create(store.id, path="/cases/one.md", content="One.\r\nTwo.\n")
    client.skills.create(
        files=[("tone/SKILL.md", b"---\nname: tone\ndescription: Sets the tone. Use it always.\n---\nBe kind.\n")],
        display_name="Tone of voice",
    )
    got = run("pull", "--owner", OWNER, "--workspace", workspace.url, "--unowned")
    kinds = {line["address"].split("/")[0] for line in got["adopted"]}
    check.equal("kinds that were pulled", kinds, {"Agent", "Environment", "MemoryStore", "Skill"})
    check.equal("the project is valid", run("validate")["ok"], True)
    first = files(root)
    check.equal("a second pull writes nothing", run("pull", "--unowned")["written"], [])
    plan = run("plan")
    check.equal("it is all adopted", {a["verb"] for a in plan["actions"]} - {"policy"}, {"adopt"})
    changed = [a["address"] for a in plan["actions"] if a["about"].get("changes")]
    check.equal("without a changed field", changed, [])
    run("apply", "--yes")
    plan = run("plan", "--detailed-exitcode")
    check.equal("then there is nothing to do", (plan["actions"], plan["held"]), ([], []))
    check.equal("nor to pull", run("pull")["written"], [])
    check.equal("and the files are the same", files(root), first)
