"""Kills at every moment of the writing, locks, journals: a folder is old, new, or refused."""

import contextlib
import errno
import json
import os
import signal
import stat
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bnmtl import writing
from bnmtl.ensembles import PredictionStore
from bnmtl.errors import InputError, InputTypeError
from bnmtl.io import read_run
from bnmtl.writing import (
    OutputFile,
    OutputFolder,
    check_complete,
    locked,
    path_inside,
    write_whole,
)

pytestmark = [
    pytest.mark.beside_kernels,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="writers that are killed are forks"),
]

RECORD = "record.json"


def files_of(folder):
    """The files that the record of a folder lists; None without one."""
    try:
        return json.loads((folder / RECORD).read_text())["files"]
    except (OSError, ValueError):
        return None


def output(path, **options):
    return OutputFolder(path, force=True, earlier=files_of, last=RECORD, **options)


def write(folder, version, names):
    """Write files and their record in one commit."""
    with folder as output, output.writing() as new:
        fill(new, version, names)


def fill(new, version, names):
    for name in names:
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_text(version)
    record = {"version": version, "files": [*names, RECORD]}
    (new / RECORD).write_text(json.dumps(record))


def read(path):
    """The version of a folder, all files of which must be of it; None if there is no folder."""
    check_complete(path, files_of)
    if not path.exists():
        return None
    record = json.loads((path / RECORD).read_text())
    for name in record["files"][:-1]:
        assert (path / name).read_text() == record["version"]
    return record["version"]


STEPS = ["fsync", "rename", "replace", "mkdir", "rmdir", "unlink", "write"]


def killed_at(n, work, seconds=0):
    """Whether a fork that does some work came to its end before its n-th step on files."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    try:
        signal.alarm(seconds)
        left = [n]

        def counted(step):
            def run(*arguments, **options):
                found = step(*arguments, **options)
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)
                return found

            return run

        for name in STEPS:
            setattr(os, name, counted(getattr(os, name)))
        exchange = writing._exchanged_at_once
        writing._exchanged_at_once = counted(exchange)
        work()
        os._exit(0)
    except BaseException:
        os._exit(1)


def kills(tmp_path, prepare, work):
    """Kill some work at each of its steps, in a folder of its own; yields these folders."""
    for n in range(1, 500):
        place = tmp_path / str(n)
        place.mkdir()
        prepare(place)
        ended = killed_at(n, lambda place=place: work(place))
        yield place
        if ended:
            assert n > 4
            return
    raise AssertionError


OLD, NEW = ["a", "old", "b/inside"], ["a", "new", "b/inside"]


def nothing(place):
    pass


def an_earlier_one(place):
    write(output(place / "run"), "old", OLD)


def one_beside_a_file(place):
    an_earlier_one(place)
    (place / "run/mine.txt").write_text("mine")


def an_empty_one(place):
    (place / "run").mkdir()


def all_inside(folder):
    """All files and empty folders below a folder."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() or not any(path.iterdir())
    )


@pytest.mark.parametrize("way", ["at once", "by renames", "in a folder that cannot be renamed"])
@pytest.mark.parametrize("there", [nothing, an_empty_one, an_earlier_one, one_beside_a_file])
def test_a_kill_leaves_the_old_or_the_new_one_and_the_next_run_succeeds(
    tmp_path, monkeypatch, there, way
):
    if way == "by renames":
        monkeypatch.setattr(writing, "_exchanged_at_once", lambda *_: False)
    if way == "in a folder that cannot be renamed":
        if there is nothing:
            pytest.skip("there is none yet")
        monkeypatch.setattr(os.path, "ismount", lambda path: Path(path).name == "run")
    mine = ["mine.txt"] if there is one_beside_a_file else []
    found = set()
    for place in kills(tmp_path, there, lambda place: write(output(place / "run"), "new", NEW)):
        path = place / "run"
        with pytest.warns(UserWarning) if way == "by renames" else contextlib.nullcontext():
            if way == "by renames":  # one at least, so that this holds for all moments
                writing.warn("the folder is that from before")
            try:
                found.add(read(path))
            except FileNotFoundError:  # an empty folder
                assert there in (an_empty_one, nothing)
                found.add(None)
        write(output(path), "newer", NEW)
        assert read(path) == "newer"
        assert all_inside(path) == sorted([*NEW, RECORD, *mine])
        assert [entry.name for entry in place.iterdir()] == ["run"]
        for name in mine:
            assert (path / name).read_text() == "mine"
    assert found == {None if there in (nothing, an_empty_one) else "old", "new"}


def test_a_kill_while_files_are_added_leaves_what_was_written_before(tmp_path):
    def work(place):
        with output(place / "run") as folder:
            with folder.writing() as new:
                fill(new, "first", ["a", "picture"])
                (new / "picture").unlink()
            with folder.adding() as new:
                (new / "picture").write_text("first")
                record = {"version": "first", "files": ["a", "picture", RECORD], "complete": True}
                (new / RECORD).write_text(json.dumps(record))

    found = set()
    for place in kills(tmp_path, one_beside_a_file, work):
        check_complete(place / "run", files_of)
        record = json.loads((place / "run" / RECORD).read_text())
        has_picture = (place / "run/picture").exists()
        found.add((record["version"], has_picture, "complete" in record))
        write(output(place / "run"), "newer", NEW)
        assert all_inside(place / "run") == sorted([*NEW, RECORD, "mine.txt"])
        assert [entry.name for entry in place.iterdir()] == ["run"]
    first = {("first", False, False), ("first", True, False), ("first", True, True)}
    assert found == {("old", False, False), *first}


@pytest.mark.parametrize("failing", range(1, 9))
def test_an_error_in_the_middle_rolls_back(tmp_path, monkeypatch, failing):
    one_beside_a_file(tmp_path)
    before = {name: (tmp_path / "run" / name).read_text() for name in all_inside(tmp_path / "run")}
    rename, left = os.rename, [failing]

    def fails(source, target):
        if Path(source).parent.parent == tmp_path or Path(target).is_relative_to(tmp_path / "run"):
            left[0] -= 1
            if left[0] == 0:
                raise OSError(errno.EIO, "Input/output error")
        rename(source, target)

    folder = output(tmp_path / "run")
    monkeypatch.setattr(os, "rename", fails)
    try:
        write(folder, "new", NEW)
    except OSError as error:
        assert error.errno == errno.EIO and error.filename == str(tmp_path / "run")
        assert read(tmp_path / "run") == "old"
        after = all_inside(tmp_path / "run")
        assert {name: (tmp_path / "run" / name).read_text() for name in after} == before
    else:
        assert left[0] > 0 and read(tmp_path / "run") == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_what_others_put_into_a_folder_that_is_exchanged_stays(tmp_path, monkeypatch):
    an_earlier_one(tmp_path)
    can_exchange = OutputFolder._can_exchange

    def slow(folder):
        found = can_exchange(folder)
        (tmp_path / "run/mine.txt").write_text("mine")
        return found

    monkeypatch.setattr(OutputFolder, "_can_exchange", slow)
    write(output(tmp_path / "run"), "new", NEW)
    assert read(tmp_path / "run") == "new"
    assert (tmp_path / "run/mine.txt").read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_a_folder_keeps_mode_and_group_and_may_be_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run").symlink_to("elsewhere/real")
    for version, names in (("old", OLD), ("new", NEW)):
        write(output(tmp_path / "run"), version, names)
        if version == "old":
            (tmp_path / "elsewhere/real").chmod(0o2750)
            identity = (tmp_path / "elsewhere/real").stat().st_ino
    assert (tmp_path / "run").is_symlink() and read(tmp_path / "run") == "new"
    found = (tmp_path / "elsewhere/real").stat()
    assert stat.S_IMODE(found.st_mode) == 0o2750 and found.st_ino != identity
    assert all_inside(tmp_path / "elsewhere/real") == sorted([*NEW, RECORD])


def test_a_working_directory_does_not_vanish(tmp_path, monkeypatch):
    an_earlier_one(tmp_path)
    monkeypatch.chdir(tmp_path / "run")
    write(output("."), "new", NEW)
    assert read(Path(".")) == "new" and all_inside(tmp_path) == all_inside(tmp_path)
    assert sorted(os.listdir(".")) == sorted(["a", "b", "new", RECORD])


def test_who_writes_second_is_refused_at_once(tmp_path):
    message = "must not be written by two processes at once, got `.*run`, which one is writing"
    with output(tmp_path / "run"):
        with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match=message):
            pool.submit(output, tmp_path / "run").result()
        child = os.fork()
        if not child:
            try:
                output(tmp_path / "run")
            except InputError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        output(tmp_path / "other").__exit__()
    write(output(tmp_path / "run"), "new", NEW)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_who_is_killed_holds_no_lock(tmp_path):
    for _ in kills(tmp_path, nothing, lambda place: output(place / "run").__exit__()):
        pass
    for place in tmp_path.iterdir():
        write(output(place / "run"), "new", NEW)
        assert [entry.name for entry in place.iterdir()] == ["run"]


def test_a_lock_is_that_of_the_file_at_its_path(tmp_path):
    """Each process removes the file, others wait for the removed one: no count may be lost."""
    counter, n_processes, n_times = tmp_path / "counter", 4, 40
    counter.write_text("0")
    children = []
    for _ in range(n_processes):
        child = os.fork()
        if not child:
            for _ in range(n_times):
                with locked(counter, "out", wait=30):
                    counter.write_text(str(int(counter.read_text()) + 1))
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * n_processes
    assert counter.read_text() == str(n_processes * n_times)
    assert [path.name for path in tmp_path.iterdir()] == ["counter"]


def test_a_file_system_without_locks_is_told_once(tmp_path, monkeypatch):
    import fcntl

    def missing(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", missing)
    with pytest.warns(UserWarning) as caught:
        write(output(tmp_path / "run"), "new", NEW)
    (warning,) = caught
    assert str(warning.message).startswith("The file system of ") and "no locks" in str(
        warning.message
    )
    assert read(tmp_path / "run") == "new"


def test_readers_wait_for_nobody(tmp_path, monkeypatch):
    """While files are moved one by one, readers are refused; after a kill they finish it."""
    one_beside_a_file(tmp_path)
    path, move = tmp_path / "run", writing._move_each

    def slow(new, place, journal):
        # Another thread, because one that holds the lock may ask for it again.
        with (
            ThreadPoolExecutor(1) as pool,
            pytest.raises(InputError, match="two processes at once"),
        ):
            pool.submit(check_complete, path, files_of).result()
        os._exit(9)

    assert os.fork() or killed_in_the_middle(monkeypatch, slow, path)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 9
    assert writing._move_each is move
    with monkeypatch.context() as patched:

        def forbidden(*_):
            raise PermissionError(errno.EACCES, "Permission denied")

        patched.setattr(os, "rename", forbidden)
        with pytest.raises(InputError, match="must be complete.*was killed.*Permission denied"):
            read(path)
    assert read(path) == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def killed_in_the_middle(monkeypatch, slow, path):
    monkeypatch.setattr(writing, "_move_each", slow)
    try:
        write(output(path), "new", NEW)
    finally:
        os._exit(1)


def test_threads_that_write_one_file_show_only_whole_ones(tmp_path):
    path, ended = tmp_path / "network.bif", threading.Event()
    contents = [str(thread).encode() * 100_000 for thread in range(4)]

    def work(content):
        for _ in range(15):
            write_whole(path, content)

    def look():
        while not ended.is_set():
            with contextlib.suppress(FileNotFoundError):
                assert path.read_bytes() in contents

    with ThreadPoolExecutor(5) as pool:
        looking = pool.submit(look)
        list(pool.map(work, contents))
        ended.set()
        looking.result()
    assert [entry.name for entry in tmp_path.iterdir()] == ["network.bif"]


def test_a_link_is_replaced_and_its_target_kept(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "a.csv").symlink_to("mine")
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a.csv", b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "mine").read_text() == "mine" and not (tmp_path / "a.csv").is_symlink()
    assert stat.S_IMODE((tmp_path / "a.csv").stat().st_mode) == 0o640


def test_a_prepared_name_is_not_written_through(tmp_path, monkeypatch):
    (tmp_path / "victim").write_text("mine")
    monkeypatch.setattr(writing.secrets, "token_hex", lambda n: "0" * 2 * n)
    (tmp_path / f".bnmtl-{'0' * 16}.partial").symlink_to("victim")
    with pytest.raises(OSError, match="File exists"):
        write_whole(tmp_path / "a.csv", b"new")
    assert (tmp_path / "victim").read_text() == "mine"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../a", "b/../../a", "/a", "b\\..\\a", "a\0", "link/a", "linked"]
)
def test_names_in_records_stay_in_the_folder(tmp_path, name):
    (tmp_path / "run").mkdir()
    (tmp_path / "a").write_text("precious")
    (tmp_path / "run/link").symlink_to("..")
    (tmp_path / "run/linked").symlink_to("../a")
    with pytest.raises(InputError, match="must name files in its folder"):
        path_inside(tmp_path / "run", name, tmp_path / "run/run.json")
    assert path_inside(tmp_path / "run", "b/c", tmp_path) == tmp_path / "run/b/c"


@pytest.mark.parametrize(
    "text",
    [
        '{"old": [], "new": ["../victim"]}',
        '{"old": ["../victim"], "new": []}',
        '{"old": [], "new": ["link/victim"]}',
        '{"old": [], "new": ["/victim"]}',
        '{"old": ["mine.txt"], "new": []}',
        '{"old": "a", "new": ""}',
        '{"old": [3], "new": []}',
        '{"old": []}',
        "[" * 5000,
        "{",
    ],
)
def test_a_journal_of_a_stranger_moves_nothing_outside(tmp_path, text):
    one_beside_a_file(tmp_path)
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "run/link").symlink_to("..")
    new = writing._hidden(tmp_path / "run", tmp_path / "run", "new")
    new.mkdir()
    (new / "victim").write_text("theirs")
    (new / "link").mkdir()
    (new / "link/victim").write_text("theirs")
    (new / writing._JOURNAL).write_text(text)
    for use in (read, output):
        with pytest.raises(
            InputError, match="must name files in its folder; it is damaged: remove"
        ):
            use(tmp_path / "run")
    assert (tmp_path / "victim").read_text() == "mine" and (tmp_path / "run/a").exists()
    assert (tmp_path / "run/mine.txt").read_text() == "mine"


def test_a_pipe_that_a_journal_names_as_a_folder_is_not_opened(tmp_path):
    an_earlier_one(tmp_path)
    os.mkfifo(tmp_path / "run/pipe")
    new = hidden(tmp_path / "run")
    new.mkdir()
    (new / writing._JOURNAL).write_text('{"old": [], "new": ["pipe/a"]}')
    assert killed_at(-1, lambda: read(tmp_path / "run"), seconds=5)


def hidden(path, suffix="new", home=None):
    return writing._hidden(path.parent if home is None else home, path, suffix)


def test_old_files_are_not_set_aside_through_a_link(tmp_path):
    an_earlier_one(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    new = hidden(tmp_path / "run")
    new.mkdir()
    (new / writing._ASIDE).symlink_to("../elsewhere")
    (new / writing._JOURNAL).write_text('{"old": ["a"], "new": []}')
    with pytest.raises(InputError, match="must name files in its folder; it is damaged: remove"):
        read(tmp_path / "run")
    assert all_inside(tmp_path / "elsewhere") == [] and (tmp_path / "run/a").exists()


@pytest.mark.parametrize("suffix", ["new", "old"])
def test_hidden_names_that_are_links_lead_nowhere(tmp_path, suffix):
    an_earlier_one(tmp_path)
    write(output(tmp_path / "other"), "old", OLD)
    (tmp_path / "other/mine.txt").write_text("mine")
    hidden(tmp_path / "run", suffix).symlink_to("other")
    before = all_inside(tmp_path / "other")
    with contextlib.nullcontext() if suffix == "old" else pytest.raises(InputError, match="exists"):
        write(output(tmp_path / "run"), "new", NEW)
    assert all_inside(tmp_path / "other") == before
    (tmp_path / "other" / writing._JOURNAL).write_text('{"old": [], "new": ["mine.txt"]}')
    assert read(tmp_path / "run") == ("new" if suffix == "old" else "old")
    assert (tmp_path / "other/mine.txt").read_text() == "mine"


def test_a_lock_that_is_a_link_leaves_its_target_alone(tmp_path):
    (tmp_path / "victim").write_text("mine")
    hidden(tmp_path / "run", "lock").symlink_to("victim")
    with pytest.raises(InputError, match="must be a folder that can be written to"):
        output(tmp_path / "run")
    assert (tmp_path / "victim").read_text() == "mine"


@pytest.mark.parametrize("kind", ["pipe", "dangling link", "deep folder"])
def test_what_others_have_in_a_folder_is_not_opened(tmp_path, kind):
    an_earlier_one(tmp_path)
    other = tmp_path / "run/other"
    if kind == "pipe":
        os.mkfifo(other)
    elif kind == "dangling link":
        other.symlink_to("somebody@somewhere")
    else:
        (other / "deep").mkdir(parents=True)
        os.mkfifo(other / "deep/pipe")
    done = killed_at(-1, lambda: write(output(tmp_path / "run"), "new", NEW), seconds=5)
    assert done and read(tmp_path / "run") == "new" and os.path.lexists(other)


def test_a_link_in_place_of_a_folder_of_the_run_is_not_followed(tmp_path):
    an_earlier_one(tmp_path)
    (tmp_path / "run/b").rename(tmp_path / "elsewhere")
    (tmp_path / "run/b").symlink_to("../elsewhere")
    with pytest.raises(InputError, match="must not hold other files of the same name, got .*/b`"):
        write(output(tmp_path / "run"), "new", NEW)
    assert (tmp_path / "elsewhere/inside").read_text() == "old"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["elsewhere", "run"]
    (tmp_path / "run/b").unlink()
    write(output(tmp_path / "run"), "new", NEW)
    assert read(tmp_path / "run") == "new"


@pytest.mark.parametrize(
    "name", ["a\0b", "a\ud800", "a" * 300, "a/" * 3000, "b/" + "a" * 300 + "/c"]
)
def test_names_that_no_file_can_have_are_refused_before_the_work(tmp_path, name):
    def a_file(path):
        return OutputFile(path, (".csv",), force=True)

    for use, end in ((output, ""), (a_file, ".csv")):
        with pytest.raises(InputError, match="`out` must be a"):
            use(f"{tmp_path}/{name}{end}")
    for use in (read_run, PredictionStore.open):
        with pytest.raises(InputError, match="`folder` must be a"):
            use(f"{tmp_path}/{name}")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("kind", ["pipe", "loop", "file"])
def test_what_is_not_a_folder_is_refused_before_the_work(tmp_path, kind):
    if kind == "pipe":
        os.mkfifo(tmp_path / "run")
    elif kind == "loop":
        (tmp_path / "run").symlink_to("run")
    else:
        (tmp_path / "run").write_text("mine")
    with pytest.raises(InputError, match="must be a folder, got the file"):
        output(tmp_path / "run")
    with pytest.raises(InputTypeError, match="`out` must be a path, got int"):
        output(3)


@pytest.mark.parametrize("there", [an_empty_one, an_earlier_one])
def test_what_others_put_into_a_folder_at_the_last_moment_has_a_place(tmp_path, monkeypatch, there):
    """Also where the new run has no such folder, or a file of that name."""
    there(tmp_path)
    can_exchange = OutputFolder._can_exchange

    def slow(folder):
        found = can_exchange(folder)
        (tmp_path / "run/b").mkdir(exist_ok=True)
        for name in ("b/mine.txt", "new"):
            (tmp_path / "run" / name).write_text("mine")
        return found

    monkeypatch.setattr(OutputFolder, "_can_exchange", slow)
    with pytest.warns(UserWarning, match="was put there, by another name"):
        write(output(tmp_path / "run"), "new", ["new"])
    monkeypatch.undo()
    write(output(tmp_path / "run"), "newer", ["new"])
    assert read(tmp_path / "run") == "newer"
    mine = "b/mine.txt" if there is an_earlier_one else "b"
    assert all_inside(tmp_path / "run")[0].startswith(mine)
    assert (tmp_path / "run/b/mine.txt").read_text() == "mine"
    assert (tmp_path / "run/new.2").read_text() == "mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_what_is_written_inside_a_folder_outlives_its_replacement(tmp_path):
    an_earlier_one(tmp_path)
    with output(tmp_path / "run/inner") as inner, inner.writing() as new:
        fill(new, "inner", ["a"])
        write(output(tmp_path / "run"), "new", NEW)
        with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match="two processes"):
            pool.submit(output, tmp_path / "run/inner").result()
    assert read(tmp_path / "run") == "new" and read(tmp_path / "run/inner") == "inner"
    assert all_inside(tmp_path) == sorted(
        [*(f"run/{name}" for name in (*NEW, RECORD)), "run/inner/a", f"run/inner/{RECORD}"]
    )


def test_a_folder_inside_with_the_same_name_is_another_one(tmp_path, monkeypatch):
    an_earlier_one(tmp_path)
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == tmp_path / "run")
    with output(tmp_path / "run") as outer, outer.writing() as new:
        fill(new, "outer", NEW)
        write(output(tmp_path / "run/run"), "inner", ["a"])
    assert read(tmp_path / "run") == "outer" and read(tmp_path / "run/run") == "inner"


def test_a_working_directory_inside_does_not_vanish(tmp_path, monkeypatch):
    an_earlier_one(tmp_path)
    monkeypatch.chdir(tmp_path / "run/b")
    write(output(".."), "new", NEW)
    assert read(Path("..")) == "new" and Path("inside").read_text() == "new"


def test_who_cannot_write_beside_a_folder_finds_the_lock_there(tmp_path, monkeypatch):
    """Readers and writers with other rights keep their locks elsewhere."""
    one_beside_a_file(tmp_path)
    path = tmp_path / "run"
    with output(path) as folder:
        monkeypatch.setattr(writing, "_home_of", lambda place: place)
        new = hidden(path)
        new.mkdir()
        (new / writing._JOURNAL).write_text('{"old": ["a"], "new": []}')
        for use in (read, output):
            with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match="two processes"):
                pool.submit(use, path).result()
        assert folder and (path / "a").exists()


def as_somebody_else(work):
    """Whether some work succeeds in a fork of another user."""

    def other():
        os.setgid(65534)
        os.setuid(65534)
        work()

    return killed_at(-1, other)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="root can become another user")
def test_other_users(monkeypatch):
    """They read what they may, are refused in a sentence, and finish nothing for others."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o1777)
        one_beside_a_file(place)
        assert as_somebody_else(lambda: read(place / "run"))
        (place / "run").chmod(0o700)

        def refused():
            for use in (read, read_run, PredictionStore.open):
                with pytest.raises(InputError, match="can be read, got `.*Permission denied"):
                    use(place / "run")

        assert as_somebody_else(refused)

        def prepare():
            new = hidden(place / "run")
            new.mkdir()
            (new / "a").write_text("theirs")
            (new / writing._JOURNAL).write_text('{"old": ["a"], "new": ["a"]}')

        assert as_somebody_else(prepare)
        with pytest.raises(InputError, match="must be complete.*it was a process of another user"):
            read(place / "run")
        with pytest.raises(InputError, match="written to.*it was a process of another user"):
            output(place / "run")
        assert (place / "run/a").read_text() == "old"
