"""The real database beside a plain-dict model, through everything that can happen to it."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.stateful.model import ABSENT, Model, ModelBranch, Place, Rows, three_way

from strata_mcp.engine import Engine
from strata_mcp.errors import ConflictError, InvalidArgumentError

KEYS = st.sampled_from(["a", "b", "c", "d/1", "é"])
SPACES = st.sampled_from(["default", "notes"])
VALUES = st.sampled_from(["", "1", "2", "3"])
FIELDS = st.sampled_from(["x", "y", "z"])
STRATEGIES = st.sampled_from(["strict", "source_wins", "target_wins"])
NEWEST = 1 << 60


class StoreMachine(RuleBasedStateMachine):
    """Each rule does one thing to both and compares what comes back."""

    branches = Bundle("branches")

    @initialize(target=branches)
    def start(self) -> str:
        """Begin with a fresh database on disk."""
        self.folder = Path(tempfile.mkdtemp())
        self.engine = Engine.open(self.folder / "db")
        self.model = Model()
        self.forks = 0
        self.checkpoints = 0
        self.kills = 0
        self.tags: dict[str, tuple[ModelBranch, Rows]] = {}
        return "default"

    def teardown(self) -> None:
        """Leave nothing behind."""
        if hasattr(self, "engine"):
            self.engine.close(checkpoint=False)
            shutil.rmtree(self.folder, ignore_errors=True)

    # ---- helpers ----

    def alive(self, name: str) -> ModelBranch | None:
        """The live branch of that name, if any."""
        return self.model.names.get(name)

    def put(self, branch: str, place: Place, value: Any, engine: Engine | None = None) -> None:
        """Write one row on both sides and compare the effect."""
        engine = engine or self.engine
        capability, space, key = place
        if capability == "kv":
            if value is ABSENT:
                written = engine.kv.delete(branch, space, key.encode())
            else:
                written = engine.kv.put(branch, space, key.encode(), value.encode())
        elif value is ABSENT:
            written = engine.json.delete(branch, space, key, "$")
        else:
            written = engine.json.set(branch, space, key, "$", value)
        life = self.model.names[branch]
        assert (written.commit is None) == (value is ABSENT and place not in life.rows)
        if written.commit is not None:
            apply(life.rows, {place: value})
            life.commit(written.commit.version)

    # ---- rules ----

    @rule(branch=branches, space=SPACES, key=KEYS, value=VALUES)
    def put_value(self, branch: str, space: str, key: str, value: str) -> None:
        """A put is visible at once."""
        if self.alive(branch):
            self.put(branch, ("kv", space, key), value)

    @rule(branch=branches, space=SPACES, key=KEYS)
    def delete_value(self, branch: str, space: str, key: str) -> None:
        """A delete of something absent commits nothing."""
        if self.alive(branch):
            self.put(branch, ("kv", space, key), ABSENT)

    @rule(branch=branches, key=KEYS, name=FIELDS, value=VALUES)
    def set_field(self, branch: str, key: str, name: str, value: str) -> None:
        """Setting a path makes the document when it is absent."""
        life = self.alive(branch)
        if life is None:
            return
        written = self.engine.json.set(branch, "default", key, f"$.{name}", value)
        document = life.rows.setdefault(("json", "default", key), {})
        document[name] = value
        assert written.commit is not None
        life.commit(written.commit.version)

    @rule(branch=branches, key=KEYS)
    def delete_document(self, branch: str, key: str) -> None:
        """Documents go like values do."""
        if self.alive(branch):
            self.put(branch, ("json", "default", key), ABSENT)

    @rule(branch=branches, entries=st.dictionaries(KEYS, VALUES, max_size=4))
    def put_many(self, branch: str, entries: dict[str, str]) -> None:
        """A batch is one commit."""
        life = self.alive(branch)
        if life is None:
            return
        pairs = [(key.encode(), value.encode()) for key, value in entries.items()]
        result = self.engine.kv.batch_put(branch, "notes", pairs)
        if result.commit is not None:
            apply(life.rows, {("kv", "notes", key): value for key, value in entries.items()})
            life.commit(result.commit.version)

    @rule(branch=branches, key=KEYS, value=VALUES, fails=st.booleans())
    def transact(self, branch: str, key: str, value: str, fails: bool) -> None:
        """Both families in one commit, or neither."""
        life = self.alive(branch)
        if life is None:
            return
        try:
            with self.engine.store.transaction(branch, message="both") as staged:
                self.engine.kv.put(branch, "default", key.encode(), value.encode())
                self.engine.json.set(branch, "default", key, "$", {"x": value})
                assert self.engine.kv.get_value(branch, "default", key.encode()) == value.encode()
                if fails:
                    raise InterruptedError
        except InterruptedError:
            return
        assert staged.receipt is not None
        apply(life.rows, {("kv", "default", key): value, ("json", "default", key): {"x": value}})
        life.commit(staged.receipt.version)

    @precondition(lambda self: len(self.model.lives) < 8)
    @rule(target=branches, source=branches, how=st.sampled_from(["head", "version", "timestamp"]), data=st.data())
    def fork(self, source: str, how: str, data: st.DataObject) -> str:
        """A fork starts with exactly what the source had at the anchor."""
        life = self.alive(source)
        if life is None:
            source, life = "default", self.model.names["default"]
        self.forks += 1
        name = f"f{self.forks}"
        if how == "head":
            item = self.engine.branches.fork(source, name)
        else:
            version = data.draw(st.sampled_from([version for version, _ in life.log]))
            fork = self.engine.branches.fork_at_version if how == "version" else self.engine.branches.fork_at_timestamp
            item = fork(source, name, version)
        assert item.parent is not None
        assert item.created_at is not None
        self.model.fork(source, name, item.created_at, item.parent.fork_version)
        return name

    @rule(source=branches, into=branches, strategy=STRATEGIES)
    def merge(self, source: str, into: str, strategy: str) -> None:
        """Merge applies, conflicts and refuses as the model says."""
        left, right = self.alive(source), self.alive(into)
        if left is None or right is None:
            return
        if left is right:
            try:
                self.engine.branches.merge(source, into, strategy)
            except InvalidArgumentError:
                return
            raise AssertionError("merged a branch into itself")
        changes, conflicts = self.model.merge(left, right, strategy)
        preview = self.engine.branches.preview(source, into, strategy)
        assert {place_of(item) for item in preview.conflicts} == conflicts
        try:
            outcome = self.engine.branches.merge(source, into, strategy)
        except ConflictError:
            assert conflicts
            assert strategy == "strict"
            return
        assert not conflicts or strategy != "strict"
        assert {place_of(item) for item in [*outcome.applied, *outcome.deleted]} == set(changes)
        if outcome.target_version is not None:
            source_version = left.log[-1][0]
            apply(right.rows, changes)
            right.commit(outcome.target_version)
            self.model.merged[left.ident, right.ident] = (source_version, outcome.target_version, left.ident)

    @rule(branch=branches, data=st.data(), strategy=STRATEGIES)
    def revert(self, branch: str, data: st.DataObject, strategy: str) -> None:
        """Undoing a commit changes only its keys."""
        life = self.alive(branch)
        if life is None:
            return
        commits = [item.version for item in self.engine.branches.log(branch, 10).items if item.changes]
        if not commits:
            return
        version = data.draw(st.sampled_from(commits))
        after, before = life.at(version), life.at(version - 1)
        changes, conflicts = three_way(after, before, life.rows, strategy)
        places = {place for place in {*after, *before} if after.get(place, ABSENT) != before.get(place, ABSENT)}
        changes = {place: value for place, value in changes.items() if place in places}
        conflicts &= places
        try:
            outcome = self.engine.branches.revert(branch, version, strategy)
        except ConflictError:
            assert conflicts
            assert strategy == "strict"
            return
        assert not conflicts or strategy != "strict"
        if outcome.target_version is not None:
            apply(life.rows, changes)
            life.commit(outcome.target_version)

    @rule(branch=branches, other=branches)
    def diff(self, branch: str, other: str) -> None:
        """Diff names exactly the places that differ."""
        left, right = self.alive(branch), self.alive(other)
        if left is None or right is None:
            return
        found = {
            (group.capability.value, group.space, item.identity.decode())
            for group in self.engine.branches.diff(branch, other).spaces
            for item in [*group.added, *group.removed, *group.modified]
        }
        places = {*left.rows, *right.rows}
        assert found == {p for p in places if left.rows.get(p, ABSENT) != right.rows.get(p, ABSENT)}

    @rule(branch=branches, data=st.data())
    def read_past(self, branch: str, data: st.DataObject) -> None:
        """Any commit of a branch can be read back whole."""
        life = self.alive(branch)
        if life is None or len(life.log) < 2:
            return
        version, rows = data.draw(st.sampled_from(life.log[1:]))
        assert self.rows_of(branch, as_of=version) == rows

    @rule(branch=branches, data=st.data())
    def tag(self, branch: str, data: st.DataObject) -> None:
        """A tag keeps pointing at the moment it was given, whatever is written later."""
        life = self.alive(branch)
        if life is None or len(life.log) < 2:
            return
        version, rows = data.draw(st.sampled_from(life.log[1:]))
        name = f"t{len(self.tags)}"
        self.engine.tags.create(name, branch, version)
        self.tags[name] = (life, rows)

    @invariant()
    def tags_agree(self) -> None:
        """Every tag of a live branch reads back what was tagged."""
        for name, (life, rows) in list(getattr(self, "tags", {}).items())[-2:]:
            item = self.engine.tags.get(name)
            if self.alive(item.branch) is life:
                assert self.rows_of(item.branch, as_of=item.version) == rows

    @precondition(lambda self: self.kills < 2)
    @rule(branch=branches, key=KEYS, value=VALUES)
    def write_in_a_process_that_is_killed(self, branch: str, key: str, value: str) -> None:
        """Another process writes and dies by SIGKILL; its commit shows on the next read."""
        life = self.alive(branch)
        if life is None:
            return
        self.kills += 1
        code = (
            "import os, signal, sys; from strata_mcp.engine import Engine;"
            "engine = Engine.open(sys.argv[1]);"
            "written = engine.kv.put(sys.argv[2], 'default', sys.argv[3].encode(), sys.argv[4].encode());"
            "print(written.commit.version, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
        )
        command = [sys.executable, "-c", code, str(self.folder / "db"), branch, key, value]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
        assert done.returncode == -9, done.stderr
        apply(life.rows, {("kv", "default", key): value})
        life.commit(int(done.stdout))

    @rule(branch=branches)
    def delete_branch(self, branch: str) -> None:
        """A branch without forks can go."""
        life = self.alive(branch)
        if life is None or branch == "default":
            return
        if any(life.ident in (ident for ident, _ in other.lineage[:1]) for other in self.model.names.values()):
            return
        self.engine.branches.delete(branch)
        del self.model.names[branch]

    @rule()
    def reopen(self) -> None:
        """Closing and opening changes nothing."""
        self.engine.close(checkpoint=False)
        self.engine = Engine.open(self.folder / "db")

    @rule()
    def kill(self) -> None:
        """Leave the handle as a killed process would: nothing flushed, nothing closed."""
        abandoned, self.engine = self.engine, Engine.open(self.folder / "db")
        abandoned.close(checkpoint=False)

    @rule(branch=branches, key=KEYS, value=VALUES)
    def write_elsewhere(self, branch: str, key: str, value: str) -> None:
        """A second handle, as another process has it, writes; this one sees it on its next read."""
        if self.alive(branch):
            other = Engine.open(self.folder / "db")
            try:
                self.put(branch, ("kv", "default", key), value, other)
            finally:
                other.close(checkpoint=False)

    @precondition(lambda self: self.checkpoints < 2)
    @rule(compacts=st.booleans(), reloads=st.booleans())
    def checkpoint(self, compacts: bool, reloads: bool) -> None:
        """Neither checkpoint, compaction nor dropping memory changes what is read."""
        from strata_mcp.tables.worker import perform

        self.checkpoints += 1
        perform(self.folder / "db", "checkpoint")
        if compacts:
            perform(self.folder / "db", "compact")
        if reloads:
            self.engine.store.reload()

    @invariant()
    def heads_agree(self) -> None:
        """Every branch shows what the model holds."""
        if hasattr(self, "engine"):
            for name, life in self.model.names.items():
                assert self.rows_of(name) == life.rows

    def rows_of(self, branch: str, as_of: int | None = None) -> Rows:
        """Everything a branch shows."""
        found: Rows = {}
        for space in ("default", "notes"):
            for key in self.engine.kv.list(branch, space, as_of=as_of).items:
                entry = self.engine.kv.get(branch, space, key, as_of=as_of)
                assert entry is not None
                found["kv", space, key.decode()] = entry.value.decode()
            for name in self.engine.json.list(branch, space, as_of=as_of).items:
                document = self.engine.json.get(branch, space, name, "$", as_of=as_of)
                assert document is not None
                found["json", space, name] = document.value
        return found


def apply(rows: Rows, changes: Rows) -> None:
    """Write changes into rows; ABSENT removes."""
    for place, value in changes.items():
        if value is ABSENT:
            rows.pop(place, None)
        else:
            rows[place] = copy.deepcopy(value)


def place_of(item: Any) -> Place:
    """Place of a conflict or promoted entity."""
    return item.capability.value, item.space, item.identity.decode()


TestStore = StoreMachine.TestCase
