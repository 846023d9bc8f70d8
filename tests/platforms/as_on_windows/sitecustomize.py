"""Takes from fsvm, in the process that imports this at its start, what Windows does not have.

Python imports a module of this name by itself where it finds one, so that naming this folder in ``PYTHONPATH`` reaches
a process and all that it starts. Libraries keep what they have: on Windows they use other ways, which are not ours to
test.
"""

from __future__ import annotations

import builtins
import os
import signal
import sys
from pathlib import Path

MISSING_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
MISSING_NAMES = {
    os: {
        *("WNOHANG", "chown", "chroot", "fchmod", "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid"),
        *("getgroups", "getloadavg", "getpgid", "getpgrp", "getpriority", "getsid", "getuid", "killpg", "lchown"),
        *("mkfifo", "mknod", "nice", "openpty", "pathconf", "posix_spawn", "pread", "pwrite", "sched_getaffinity"),
        *("sched_setaffinity", "sched_yield", "setgid", "setpgid", "setpriority", "setsid", "setuid", "statvfs"),
        *("sysconf", "ttyname", "uname", "wait", "wait3", "wait4"),
    },
    signal: {
        *("ITIMER_REAL", "ITIMER_VIRTUAL", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE"),
        *("SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGUSR1", "SIGUSR2", "SIG_BLOCK", "SIG_UNBLOCK", "alarm", "getitimer"),
        *("pause", "pthread_kill", "pthread_sigmask", "setitimer", "sigpending", "sigtimedwait", "sigwait"),
    },
}
OURS = "fsvm_cli"
HIGHEST_DESCRIPTOR = 256
_import, _replace, _unlink, _rename = builtins.__import__, os.replace, os.unlink, os.rename


def _asks_for_us(depth: int = 2) -> bool:
    return str(sys._getframe(depth).f_globals.get("__name__", "")).partition(".")[0] == OURS


def _import_as_on_windows(name, globals=None, locals=None, fromlist=(), level=0):  # noqa: A002 - as builtins has it
    asking = str((globals or {}).get("__name__", "")).partition(".")[0]
    if level == 0 and name in MISSING_MODULES and asking == OURS:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return _import(name, globals, locals, fromlist, level)


def _hide(module: object, names: set[str]) -> None:
    kept = {name: vars(module).pop(name) for name in names if name in vars(module)}

    def attribute(name: str) -> object:
        if name in kept and not _asks_for_us():
            return kept[name]
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    vars(module)["__getattr__"] = attribute


def _refuse_if_open(path: object) -> None:
    """Refuse what Windows refuses: to replace or to remove a file that this process has open."""
    try:
        wanted = Path(path).stat()
    except OSError:  # there is nothing to be in the way
        return
    if str(path).endswith(".lock"):  # filelock does without this on Windows
        return
    for number in range(HIGHEST_DESCRIPTOR):
        try:
            found = os.fstat(number)
        except OSError:
            continue
        if os.path.samestat(found, wanted):
            raise PermissionError(13, "Permission denied", str(path))


def _replace_as_on_windows(source, target, **options):
    _refuse_if_open(source)
    _refuse_if_open(target)
    return _replace(source, target, **options)


def _rename_as_on_windows(source, target, **options):
    _refuse_if_open(source)
    return _rename(source, target, **options)


def _unlink_as_on_windows(path, **options):
    if options.get("dir_fd") is None:
        _refuse_if_open(path)
    return _unlink(path, **options)


builtins.__import__ = _import_as_on_windows
for _module, _names in MISSING_NAMES.items():
    _hide(_module, _names)
os.replace, os.rename, os.unlink, os.remove = (
    _replace_as_on_windows,
    _rename_as_on_windows,
    _unlink_as_on_windows,
    _unlink_as_on_windows,
)
