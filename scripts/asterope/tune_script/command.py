"""The course of scripts/tune: it sets up, builds, searches, renders and names its results."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from ..command_line import DONE, run, show
from ..faults import Failure, one_line
from ..interrupt import run_in_foreground
from ..option_words import SEARCH
from ..preload_link import preloading
from . import plan
from .request import Request, read

PROGRAM = "scripts/tune"

# The search does not need these targets, so they are built after it. `cmake --install` wants the
# manual; build/asterope-record wants asterope_record.
_REST = ("asterope-bench", "asterope_record", "asterope_manual")


def say(text: str) -> None:
    """To stderr: stdout is the tool's own."""
    show(text, sys.stderr)


def _require_success(command: Sequence[str | Path]) -> None:
    """Runs a program. If it fails, it has said why, and its exit code ends this one."""
    code = run_in_foreground([str(word) for word in command])
    if code:
        raise SystemExit(code)


def _help(tool: Path, command: str) -> int:
    """Help installs and builds nothing: its reader may not have decided yet."""
    show(Path(__file__).with_name("help.txt").read_text(encoding="ascii"))
    if os.access(tool, os.X_OK):
        words = [command] if command else []
        show(f"The options of {' '.join(['asterope-tune', *words])}:\n")
        return run_in_foreground([str(tool), *words, "--help"])
    show("The options of asterope-tune are listed here once it is built.")
    return DONE


def _identity(name: str) -> tuple[int, int, int] | None:
    """Another file has another one, and so has this file once it is replaced. None: no file."""
    with suppress(OSError):
        found = os.stat(name)
        return found.st_dev, found.st_ino, found.st_mtime_ns
    return None


_said = partial(subprocess.run, capture_output=True, text=True, errors="replace")


class Course:
    """One run, step by step."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._tool = request.build / "asterope-tune"
        self._generate = [request.build / "asterope-generate", request.profile]
        self._profile = Path(request.profile)
        self._routine = Path(os.path.abspath(self._profile)).with_name("asterope_memcpy.c")
        self._library, self._preload = (
            request.libraries / f"libasterope_{name}.so" for name in ("memcpy", "preload")
        )

    def set_up_and_build(self) -> None:
        request = self._request
        self._setup("set_up", "tune")
        if request.program and request.searches:
            profiles = request.root / "generated" / "programs" / request.program
            for folder in (profiles, request.libraries):
                folder.mkdir(parents=True, exist_ok=True)
        # ASTEROPE_ROUTINE is forgotten first: the routine of the last run may be gone by now.
        routine = ("-UASTEROPE_ROUTINE", "-UASTEROPE_ROUTINE_FOLDER")
        self._setup("configure_step", "-DASTEROPE_BUILD_TESTS=OFF", *routine)
        # A search begins as soon as its program is there.
        rest = _REST if not request.searches and request.command == SEARCH else ()
        self._setup("build_step", "building asterope-tune", "asterope-tune", *rest)

    def answer(self) -> None:
        """Becomes the tool. Python ignores SIGPIPE, and the tool would, too."""
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execv(self._tool, [str(self._tool), *self._request.given])

    def search(self) -> bool:
        """Writes the profile, or keeps the one that is there: it fits the machine and came from
        these options with this version. Returns whether it has searched."""
        request = self._request
        folder, name = os.path.split(request.profile)
        stamp = Path(folder, f".{name}.tuned-with")
        vouched = stamp.read_bytes() if stamp.exists() else b""
        # Without its commit: one that changes the README does not change winners.
        version = _said([self._tool, "--version"]).stdout.partition(" (")[0].strip()
        words = [version, *map(shlex.quote, request.deciding)]
        tuned_with = os.fsencode("".join(f"{word}\n" for word in words))
        if not request.retunes and self._profile.exists() and vouched == tuned_with:
            # A provisional one, too: the same search in the same noise would end as it did.
            checked = _said([self._tool, "check", request.profile])
            if checked.returncode == 0:
                fits = f"{request.profile} still fits this machine"
                say(f"{fits}: not searching again (--retune does)")
                if request.generates:
                    # Rendering is cheap, and the templates may be newer than the routine.
                    _require_success([*self._generate, "-o", self._profile.parent])
                return False
            # The rest does not matter. A damaged profile is an error, and has nothing else.
            reasons = (checked.stdout or checked.stderr).partition("\n\n")[0]
            say(f"tuning again: {reasons.strip()}")
        with suppress(FileNotFoundError, NotADirectoryError):
            stamp.unlink()  # were the search cut short, it would vouch for the wrong profile
        before = _identity(request.profile)
        code = run_in_foreground([str(self._tool), "-o", request.profile, *request.options])
        if code:
            # The search was refused. The old profile is still there, and may be a good one.
            if code == 2 and vouched:
                stamp.write_bytes(vouched)
            raise SystemExit(code)
        # A device or a pipe keeps nothing.
        is_file = self._profile.is_file()
        if not self._profile.exists() or (is_file and _identity(request.profile) == before):
            raise Failure(
                "asterope-tune said that all went well, but it has not written "
                f"{one_line(request.profile)}: run scripts/tune again, without --reference if "
                "there is one"
            )
        if is_file:
            stamp.write_bytes(tuned_with)
        return True

    def compile_routine(self) -> None:
        request = self._request
        self._setup("routine_step", str(self._routine), str(request.libraries))
        places = [f"--places={request.values['--places']}"] if request.has("--places") else []
        _require_success([*self._generate, "--preload", self._preload, *places, "--quiet"])

    def build_the_rest(self) -> None:
        self._setup("build_step", "building the rest", *_REST)

    def compare(self, has_searched: bool) -> None:
        """Prints the comparison with libc, or packs it. A search has ended with one: its table of
        situations is of the finished routine. Another takes two minutes, and says the same."""
        request, is_verbose = self._request, self._request.has("--verbose")
        bench = [request.build / "asterope-bench", "--routine", self._library]
        bench += ["--profile", request.profile, "--suite", "workloads,mix"]
        bench += [] if is_verbose else ["--brief"]
        if request.has("--cpu"):
            bench += ["--cpu", request.values["--cpu"]]
        runs = {"bench": bench}
        header = self._routine.with_suffix(".h")
        if header.exists() and "HAS_MEMSET" in header.read_text(errors="replace"):
            runs["memset"] = [*bench, "--operation", "memset"]
        if request.values.get("--share"):
            self._share(runs)
        elif not request.has("--quiet") and (is_verbose or not has_searched):
            for command in runs.values():
                _require_success(command)

    def name_all(self) -> None:
        request = self._request
        if request.program:
            kept = sorted(path.name for path in (request.build / "programs").iterdir())
            say(f"the profile of {request.program}: {request.profile}")
            say("what is kept of programs: " + "".join(f"{name}/ " for name in kept))
        say(f"the routine as a library: {self._library}")
        say(f"to try it: {preloading(self._preload, 'YOUR-PROGRAM')}")

    def say_doubt(self) -> None:
        """Warns of a result that noise may have decided, and names the remedy."""
        checked = _said([self._tool, "check", self._request.profile])
        doubt = checked.stderr.strip()
        if doubt and checked.returncode == 0:  # else it could not be told, as of /dev/null
            say(f"{doubt}, with scripts/tune --retune")

    def _share(self, runs: dict[str, list[str | Path]]) -> None:
        from .. import share  # its imports take as long as a whole refusal

        request = self._request
        with tempfile.TemporaryDirectory() as folder:
            results = [Path(folder, f"{name}.json") for name in runs]
            for command, result in zip(runs.values(), results):
                _require_success([*command, "--json", result])
            code = share.main([request.packed, request.profile, request.trials, *map(str, results)])
            if code:
                raise SystemExit(code)
        # The next search refuses to start beside a log. One that was cut short needs its own.
        whole = json.loads(self._profile.read_text(encoding="utf-8")).get("complete", True)
        if whole and not request.values.get("--log"):
            Path(request.trials).unlink(missing_ok=True)

    def _setup(self, *words: str) -> None:
        _require_success(self._request.setup_command(*words))


def _tune(root: Path, words: Sequence[str]) -> int:
    request = read(root, words)
    if request.has("--help"):
        return _help(request.build / "asterope-tune", request.command)
    _require_success(request.setup_command("require_writable_checkout"))
    if request.has("--dry-run"):
        show("\n".join(plan.dry_run(request)))
        return DONE
    if request.searches and not request.has("--quiet"):
        say(f"{PROGRAM}: {', '.join(plan.work(request))}")
    course = Course(request)
    course.set_up_and_build()
    if not request.searches:
        course.answer()
    has_searched = course.search()
    if request.generates:
        course.compile_routine()
    course.build_the_rest()
    if request.generates:
        course.compare(has_searched)
        course.name_all()
    course.say_doubt()
    return DONE


def main(words: Sequence[str]) -> int:
    """`words`: the arguments of scripts/tune. Returns its exit code."""
    # The checkout that scripts/tune was called in, where links may lead out of it.
    root = Path(__file__).parents[3]
    return run(PROGRAM, lambda: _tune(root, words))
