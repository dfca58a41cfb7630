"""A workspace served for a check: a temporary database, tokens, a kernel-chosen port, and the command line."""

import json
import os
import pathlib
import subprocess
import tempfile


class Checks:
    """Counts what holds and keeps on after what does not, so that one run tells all."""

    def __init__(self):
        self.held = 0
        self.failed = []

    def that(self, name, holds, seen=""):
        """`holds` is true; `seen` is shown where it is not."""
        if holds:
            self.held += 1
        else:
            self.failed.append(name)
            print(f"FAILED: {name}" + (f"\n    seen: {seen!r}" if seen != "" else ""))

    def equal(self, name, seen, wanted):
        self.that(name, seen == wanted, seen if seen != "" else "nothing")

    def typed(self, name, found):
        """An object of the SDK holds all that its class requires, in the types that it says, at every depth."""
        try:
            type(found).model_validate_json(found.to_json())
        except Exception as error:  # whatever is wrong is told
            lines = [line for line in str(error).splitlines() if "errors.pydantic.dev" not in line]
            self.that(name, False, " | ".join(lines))
        else:
            self.held += 1

    def refused(self, name, error, call, **attributes):
        """The call raises this very class, with these attributes."""
        try:
            answer = call()
        except Exception as raised:
            self.that(f"{name}: {error.__name__}", type(raised) is error, raised)
            for key, wanted in attributes.items():
                self.that(f"{name}: {key}", getattr(raised, key, None) == wanted, getattr(raised, key, None))
            return raised
        self.that(f"{name}: it is refused", False, answer)
        return None

    def group(self, name, run, *args):
        """Runs a group; one that breaks down is a failure, not the end."""
        before = self.held
        try:
            run(self, *args)
        except Exception as error:
            import traceback

            traceback.print_exc()
            self.failed.append(f"{name}: {error}")
        print(f"{name}: {self.held - before} checks")

    def end(self):
        print(f"{self.held} checks hold, {len(self.failed)} failed")
        for name in self.failed:
            print(f"  {name}")
        return 1 if self.failed else 0


class Workspace:
    """`checkfu serve` on a new database, until the block ends."""

    def __init__(self, binary):
        self.binary = str(pathlib.Path(binary).resolve())
        self.folder = tempfile.TemporaryDirectory(prefix="checkfu-sdk-")
        self.root = pathlib.Path(self.folder.name)
        self.database = self.root / "workspace.db"
        self.server = None
        self.url = None

    def __enter__(self):
        command = [self.binary, "serve", "--db", str(self.database), "--listen", "127.0.0.1:0"]
        self.log = open(self.root / "server.log", "w+", encoding="utf-8")
        self.server = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=self.log, text=True, cwd=self.root, env=self.env()
        )
        for line in self.server.stderr:
            if line.startswith("Listening on "):
                self.url = line.removeprefix("Listening on ").strip()
                break
            self.log.write(line)
        if self.url is None:
            raise RuntimeError("the server ended before it listened")
        # What it says from here on goes to a file, so that the pipe never fills.
        self.drain = subprocess.Popen(["cat"], stdin=self.server.stderr, stdout=self.log)
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.ended = self.server.wait(timeout=30)
        self.drain.wait(timeout=30)
        self.log.close()
        self.folder.cleanup()

    def env(self, **more):
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        return {**kept, "NO_COLOR": "1", **more}

    def run(self, *args, cwd=None, codes=(0,), **env):
        """The command line with `--json`: what it prints."""
        done = subprocess.run(
            [self.binary, *args, "--json"], cwd=cwd or self.root, env=self.env(**env), text=True, capture_output=True
        )
        if done.returncode not in codes:
            raise RuntimeError(f"{args}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return json.loads(done.stdout)

    def token(self, name, scope, *owners):
        """The secret of a new token."""
        owned = [word for owner in owners for word in ("--owner", owner)]
        made = self.run("token", "create", name, "--db", str(self.database), "--scope", scope, *owned)
        return made["secret"]
