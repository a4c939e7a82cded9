"""Installs the needs of a program of the survey into one folder, and nowhere else."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import urllib.parse
from pathlib import Path

from asterope.faults import Failure
from asterope.prove.processes import Process, Run
from programs import Program

DRIVERS = Path(__file__).resolve().parent / "drivers"
INTERPRETERS = {
    "js": ("node",),
    "lua": ("luajit",),
    "php": ("php8.2", "-n", "-d", "memory_limit=-1"),
    "pl": ("perl",),
    "R": ("R", "--no-echo", "--vanilla", "-f"),
    "rb": ("ruby3.1",),
    "sh": ("sh",),
}
# Their drivers are compiled: {0} is the source, {1} the folder that takes the result.
COMPILERS = {
    "go": ("go", "build", "-o", "{1}/copy", "{0}"),
    "java": ("javac", "-d", "{1}", "{0}"),
    "rs": ("rustc", "-O", "-C", "prefer-dynamic=no", "-o", "{1}/copy", "{0}"),
}
LIBRARIES = "usr/lib/x86_64-linux-gnu"
SECONDS = 900  # for one command: an index that does not answer must not hold up the rest


def run(command: list[str | Path], environment: dict[str, str], seconds: float = SECONDS) -> Run:
    """Runs it to its end, and ends all that it has started. Raises Failure."""
    words = [str(word) for word in command]
    process = Process(words, environment, keep_output=True)
    try:
        return process.wait(seconds)
    except Failure as error:
        raise Failure(f"{Path(words[0]).name} {error}") from None
    finally:
        process.close()


class Installation:
    """`folder` holds venv/, debian/ (unpacked packages) and built/ (compiled drivers)."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "debian"
        self.venv = folder / "venv"
        self.built = folder / "built"
        self.scratch = folder / "scratch"  # for the files of drivers
        for one in (self.root, self.built, self.scratch):
            one.mkdir(parents=True, exist_ok=True)

    def environment(self, program: Program) -> dict[str, str]:
        """The environment of its driver: the caller's, without variables that change the copies."""
        caller = {
            name: value
            for name, value in os.environ.items()
            if name not in ("LD_PRELOAD", "GLIBC_TUNABLES") and not name.startswith("ASTEROPE_")
        }
        folders = [self.root / folder for folder in ("usr/lib/R/bin/exec", "usr/bin")]
        found = {
            **caller,
            "PATH": ":".join([caller.get("PATH", os.defpath), *map(str, folders)]),
            "TMPDIR": str(self.scratch),
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if self._is_unpacked(program):
            found |= {name: value.format(root=self.root) for name, value in program.variables}
            libraries = [self.root / LIBRARIES, self.root / "usr/lib/R/lib"]
            libraries += [self.root / LIBRARIES / name for name in ("blas", "lapack", "pulseaudio")]
            found["LD_LIBRARY_PATH"] = ":".join(map(str, libraries))
        return found

    def _is_unpacked(self, program: Program) -> bool:
        return any((self.root / f".{package}").is_file() for package in program.debian)

    def prepare(self, program: Program) -> tuple[list[str], dict[str, str]]:
        """Installs the needs of a program. Returns its command without the count, and the versions
        of its parts. Raises Failure."""
        versions = {}
        if program.language == "Python":
            versions["Python"] = ".".join(map(str, sys.version_info[:3]))
            versions.update(self._pypi(program))
        if any(not self._find(program, command) for command in program.needs):
            self._debian(program)
        for command in program.needs:
            path = self._find(program, command)
            if not path:
                raise Failure(f"there is no {command}, neither here nor in {program.debian[0]}")
            versions[command] = self._version(program, path)
        return self._command(program), versions

    def _find(self, program: Program, command: str) -> str | None:
        return shutil.which(command, path=self.environment(program)["PATH"])

    def _command(self, program: Program) -> list[str]:
        file, *arguments = program.driver.split()
        driver, suffix = DRIVERS / file, file.rpartition(".")[2]
        if suffix in COMPILERS:
            folder = self.built / program.name
            folder.mkdir(exist_ok=True)
            compiler = [word.format(driver, folder) for word in COMPILERS[suffix]]
            environment = {**self.environment(program), "GOCACHE": str(self.scratch / "go")}
            run(compiler, environment)
            words = ["java", "-cp", folder, driver.stem] if suffix == "java" else [folder / "copy"]
        elif suffix == "py":
            python = self.venv / "bin/python" if program.pypi else sys.executable
            words = [python, driver]
        else:
            first, *rest = INTERPRETERS[suffix]
            words = [self._find(program, first) or first, *rest, driver]
            words += ["--args"] if suffix == "R" else []
        return [*map(str, words), *arguments]

    def _pypi(self, program: Program) -> dict[str, str]:
        if program.pypi:
            environment = self.environment(program)
            if not (self.venv / "bin/pip").is_file():
                run([sys.executable, "-m", "venv", self.venv], environment)
            only = ("--only-binary", ":all:", "--disable-pip-version-check", "-q")
            run([self.venv / "bin/pip", "install", *only, *program.pypi], environment)
        return dict(pin.split("==") for pin in program.pypi)

    def _debian(self, program: Program) -> None:
        """Unpacks the packages, and those which they need and the system lacks."""
        environment = self.environment(program)
        ask = ("apt-get", "-s", "--no-install-recommends", "install", *program.debian)
        named = re.findall(r"^Inst (\S+)", run([*ask], environment).output, re.MULTILINE)
        if not named:
            raise Failure(f"apt-get offers no {program.debian[0]}")
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            get = ("env", "-C", folder, "apt-get", "-qq", "-o", "APT::Sandbox::User=root")
            run([*get, "download", *named], environment)
            for package in sorted(Path(folder).glob("*.deb")):
                name, version, _ = urllib.parse.unquote(package.stem).split("_")
                run(["dpkg", "-x", package, self.root], environment)
                (self.root / f".{name}").write_text(version)

    def _version(self, program: Program, command: str) -> str:
        """Debian's version of the package, else the first one that the command prints."""
        unpacked = [self.root / f".{package}" for package in program.debian]
        if command.startswith(str(self.root)) and unpacked[0].is_file():
            return unpacked[0].read_text()
        environment = self.environment(program)
        for words in (
            ["dpkg-query", "-S", os.path.realpath(command)],
            [command, "--version"],
            [command, "version"],
        ):
            try:
                said = run(words, environment, 60).output
                if words[0] == "dpkg-query":
                    show = ("dpkg-query", "-W", "-f", "${Version}\n", said.partition(":")[0])
                    said = run([*show], environment, 60).output
            except Failure:
                continue
            if number := re.search(r"\d+:?[\d.]*\.[\w.+~-]*\w", said):
                return number[0]
        return "unknown"
