"""Files: written whole or not at all; a device, a pipe or a link stays what it is."""

import errno
import os
import stat
import threading

import pytest

from qkv import files
from qkv.files import atomic_write, file_lock, read_regular_file
from tests.helpers.waiting import WAIT_SECONDS


def reading(path):
    """Read a pipe in a thread of its own; what came stands in the list when it has ended."""
    came = []
    thread = threading.Thread(target=lambda: came.append(path.read_bytes()), daemon=True)
    thread.start()
    return thread, came


def make_other(kind, path, mine):
    """Put what may lead into `mine`, or elsewhere, at this path."""
    match kind:
        case "link":
            path.symlink_to(mine.name)
        case "dangling link":
            path.symlink_to("not-there-yet")
        case "second name":
            os.link(mine, path)
        case "pipe":
            os.mkfifo(path)
        case "file":
            path.write_bytes(b"old")


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread, came = reading(pipe)
    atomic_write(pipe, b"the words")
    thread.join(timeout=WAIT_SECONDS)
    assert came == [b"the words"]
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_device_is_written_and_stays_a_device(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.open("wb").close()
    except OSError:
        pytest.skip("only root may make a device, and not in every folder")
    atomic_write(device, b"the words")
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert list(tmp_path.iterdir()) == [device]


def test_a_link_stays_and_its_file_is_written(tmp_path):
    target, link, second = tmp_path / "folder" / "kept.txt", tmp_path / "link", tmp_path / "second"
    target.parent.mkdir()
    link.symlink_to("folder/kept.txt")
    second.symlink_to(link)
    for data in (b"into a file that is not there yet", b"again"):
        atomic_write(second, data)
        assert target.read_bytes() == data
        assert (os.readlink(second), os.readlink(link)) == (str(link), "folder/kept.txt")
    assert list(target.parent.iterdir()) == [target]


def test_a_link_to_a_pipe_is_followed(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    thread, came = reading(pipe)
    atomic_write(link, b"the words")
    thread.join(timeout=WAIT_SECONDS)
    assert (came, link.is_symlink(), pipe.is_fifo()) == ([b"the words"], True, True)


def test_an_open_file_without_a_name_of_its_own_is_written(tmp_path):
    """As /dev/stdout is, where a shell sends it into a file that is gone by now."""
    with (tmp_path / "gone").open("w+b") as file:
        os.unlink(tmp_path / "gone")
        atomic_write(f"/proc/self/fd/{file.fileno()}", b"the words")
        assert file.read() == b"the words"
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_and_not_written_over(tmp_path):
    path, other = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_bytes(b"old")
    os.link(path, other)
    atomic_write(path, b"new")
    assert (path.read_bytes(), other.read_bytes()) == (b"new", b"old")


def test_what_cannot_be_written_is_told(tmp_path):
    (tmp_path / "round").symlink_to("round")
    for name in ("", "missing/file", "round"):
        with pytest.raises(OSError):  # noqa: PT011 (each system says it in its own words)
            atomic_write(tmp_path / name, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["round"]


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "file"])
def test_where_no_link_is_followed_a_file_takes_its_place(tmp_path, kind):
    path, mine = tmp_path / "best.json", tmp_path / "mine"
    mine.write_bytes(b"precious")
    make_other(kind, path, mine)
    atomic_write(path, b"new", follow_symlinks=False)
    assert (path.read_bytes(), path.is_symlink()) == (b"new", False)
    assert mine.read_bytes() == b"precious"
    assert sorted(tmp_path.iterdir()) == [path, mine]


@pytest.mark.parametrize("kind", ["link", "dangling link", "second name", "pipe"])
def test_a_lock_is_written_into_no_other_file(tmp_path, kind):
    path, mine = tmp_path / "run.lock", tmp_path / "mine"
    mine.write_bytes(b"precious")
    make_other(kind, path, mine)
    with pytest.raises(ValueError, match=r"run\.lock is a link .* take it away"), file_lock(path):
        pass
    assert mine.read_bytes() == b"precious"
    assert sorted(tmp_path.iterdir()) == [mine, path]


@pytest.mark.parametrize("kind", ["pipe", "link to an endless device"])
def test_what_is_no_file_is_not_read(tmp_path, kind):
    path = tmp_path / "it"
    if kind == "pipe":
        os.mkfifo(path)  # nobody writes into it: a reader would wait for good
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=r"it is no regular file, but a (pipe|device)"):
        read_regular_file(path)


def test_a_file_and_a_link_to_it_are_read(tmp_path):
    (tmp_path / "a").write_bytes(b"data")
    (tmp_path / "b").symlink_to("a")
    assert read_regular_file(tmp_path / "a") == read_regular_file(str(tmp_path / "b")) == b"data"
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_regular_file(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        read_regular_file(tmp_path)


def test_a_lock_is_held_once_and_leaves_nothing(tmp_path):
    path = tmp_path / "lock"
    for _ in range(2):
        with file_lock(path):
            with pytest.raises(BlockingIOError, match=f"process {os.getpid()} on"), file_lock(path):
                pass
            assert path.exists()  # the one who was refused has not taken it away
        assert not path.exists()


def test_a_file_that_went_with_its_lock_is_not_held_instead_of_the_new_one(tmp_path, monkeypatch):
    """Between opening the file and locking it, who held it ends and takes it away."""
    path, true, taken = tmp_path / "lock", files.fcntl.flock, []

    def late(file, how):
        if not taken:
            taken.append(path.unlink())
        true(file, how)

    monkeypatch.setattr(files.fcntl, "flock", late)
    with file_lock(path):
        monkeypatch.undo()
        with pytest.raises(BlockingIOError), file_lock(path):
            pass


def test_where_there_are_no_locks_nothing_is_held(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(files.fcntl, "flock", none)
    with file_lock(tmp_path / "lock"):
        pass
    monkeypatch.setattr(files, "fcntl", None)  # as on Windows
    with file_lock(tmp_path / "lock"):
        pass
    assert list(tmp_path.iterdir()) == []
