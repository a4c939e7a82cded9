"""The guides of an installed tree: no link leads where nothing is, and examples run as before."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from copy_programs import output_of


@pytest.fixture(scope="module")
def gathered(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs")
    (folder / "of an earlier build.md").write_text("")
    output_of(sys.executable, repository / "scripts/packaging/gather_docs.py", folder)
    return folder


def test_every_link_of_our_guides_leads_somewhere(gathered):
    pages = list(gathered.rglob("*.md"))
    assert gathered / "README.md" in pages and gathered / "system.md" in pages
    checked = 0
    for page in pages:
        text = re.sub(r"(?s)```.*?```", "", page.read_text())
        links = re.findall(r"\]\(([^()#\s]+)[^()\s]*\)", text) + re.findall(r'src="(.+?)"', text)
        for target in links:
            if ":" not in target and re.search(r"[./]", target):
                assert (page.parent / target).exists(), (page, target)
                checked += 1
    assert checked > 100


def test_links_lead_to_the_installed_places(gathered):
    readme = (gathered / "README.md").read_text()
    for link in ("system.md", "pictures/ratio.png", "examples/your-program/blocks.py"):
        assert f"]({link})" in readme


def test_files_are_copied_and_may_be_run_as_before(gathered):
    names = {path.name for path in gathered.rglob("*")}
    assert not {"of an earlier build.md", "__pycache__"} & names
    assert (gathered / "fleet/slurm/submit.sh").stat().st_mode & 0o100
