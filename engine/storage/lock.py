"""A lock beside a save, so that a second process is refused at once instead of corrupting it."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from engine.errors import SaveError, SaveLockedError


class SaveLock:
    """Holds `<save>.lock` by flock. The system frees it when the process dies, however that happens."""

    def __init__(self, descriptor: int, path: Path, *, shared: bool) -> None:
        self._descriptor: int | None = descriptor
        self._path = path
        self._shared = shared

    @classmethod
    def take(cls, save: Path, *, shared: bool = False) -> "SaveLock":
        """Lock a save for writing, or with `shared` against writers only.

        Raises `SaveLockedError` when another process, or this one, has it already, `SaveError` when the lock file cannot be made.
        """
        save = save.resolve()  # a link is another name of the same save
        path = save.with_name(save.name + ".lock")
        while True:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
            except OSError as error:
                raise SaveError(f"{save.parent} cannot be written to ({error.strerror}).", "Choose another folder.") from error
            try:
                fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except OSError as error:
                holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip()
                os.close(descriptor)
                who = f"process {holder}" if holder.isdigit() else "another process"
                raise SaveLockedError(f"{save} is already open in {who}.", "Close it there first.") from error
            # Whoever held the lock before may have removed the file between our two calls: then we locked a file nobody else will see.
            if _is_file(descriptor, path):
                break
            os.close(descriptor)
        if not shared:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        return cls(descriptor, path, shared=shared)

    def release(self) -> None:
        """Give the save back. Safe to call twice, from any thread."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is None:
            return
        with suppress(OSError):  # other readers still hold it: the last one tidies up
            if self._shared:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_file(descriptor, self._path):
                self._path.unlink()
        os.close(descriptor)


def _is_file(descriptor: int, path: Path) -> bool:
    """Whether the open file is the one that stands at `path` now."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
