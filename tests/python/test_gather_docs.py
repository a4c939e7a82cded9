"""The guides of an installed tree: no link leads where nothing is."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "packaging" / "gather_docs.py"


def script():
    spec = importlib.util.spec_from_file_location("gather_docs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def gather_docs(tmp_path, monkeypatch):
    """The script, of a checkout that is made up."""
    files = {
        **dict.fromkeys(("LICENSE", "generated/pictures/ratio.png", "scripts/docs/flow.svg"), ""),
        **dict.fromkeys(("scripts/docs/system.md", "scripts/fleet/job.sh", "tuner/cpu.hpp"), ""),
        "tests/examples/make/Makefile": "",
        "tests/examples/make/__pycache__/x.pyc": "",
        "tests/examples/make/README.md": "[guide](../../../scripts/docs/guide.md)",
        "README.md": "[system](scripts/docs/system.md#units) [all](scripts/docs) "
        "[cpu](tuner/cpu.hpp) [up](#top) [web](https://example.org/a.md) table[i](destination) "
        "[![ratio](generated/pictures/ratio.png)](generated/pictures/ratio.png)\n"
        '<img src="scripts/docs/flow.svg">\n',
        "scripts/docs/guide.md": "[readme](../../README.md) [job](../fleet/job.sh) "
        "[make](../../tests/examples/make/Makefile) [other](system.md)",
    }
    root = tmp_path / "checkout"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "scripts/fleet/job.sh").chmod(0o755)
    module = script()
    monkeypatch.setattr(module, "ROOT", root)
    return module


def run(gather_docs, monkeypatch, output: Path) -> None:
    monkeypatch.setattr("sys.argv", ["gather_docs.py", str(output)])
    gather_docs.main()


def test_links_lead_to_the_installed_places_and_files_may_be_run_as_before(
    gather_docs, monkeypatch, tmp_path
):
    out = tmp_path / "out"
    out.mkdir()
    (out / "of an earlier build.md").write_text("")
    run(gather_docs, monkeypatch, out)
    assert (out / "README.md").read_text() == (
        "[system](system.md#units) [all](.) cpu "
        "[up](#top) [web](https://example.org/a.md) table[i](destination) "
        "[![ratio](pictures/ratio.png)](pictures/ratio.png)\n"
        '<img src="flow.svg">\n'
    )
    assert (out / "guide.md").read_text() == (
        "[readme](README.md) [job](fleet/job.sh) [make](examples/make/Makefile) [other](system.md)"
    )
    assert (out / "examples/make/README.md").read_text() == "[guide](../../guide.md)"
    names = {path.name for path in out.rglob("*")}
    assert not {"of an earlier build.md", "__pycache__"} & names
    assert (out / "fleet/job.sh").stat().st_mode & 0o100


def test_every_link_of_our_guides_leads_somewhere(repository, monkeypatch, tmp_path):
    run(script(), monkeypatch, tmp_path)
    pages = list(tmp_path.rglob("*.md"))
    assert tmp_path / "README.md" in pages
    checked = 0
    for page in pages:
        text = re.sub(r"(?s)```.*?```", "", page.read_text())
        for target in re.findall(r"\]\(([^()#\s]+)[^()\s]*\)", text):
            if ":" not in target and re.search(r"[./]", target):
                assert (page.parent / target).exists(), (page, target)
                checked += 1
    assert checked
