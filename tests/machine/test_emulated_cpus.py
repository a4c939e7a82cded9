"""The tuner finds the features of emulated CPUs. It does not use those whose registers the system
does not save."""

from __future__ import annotations

import json
import re

import pytest
from architectures import X86_64
from command_errors import run_command
from profile_samples import good_profile

WIDE = {"avx", "avx2", "avx512f", "avx512bw", "bmi2"}


@pytest.mark.skipif(not X86_64.is_native, reason="needs the tuner of x86-64")
@pytest.mark.parametrize(
    ("cpu", "has"), [("max", {"avx", "avx2", "bmi2"}), ("max,-xsave", {"bmi2"}), ("Nehalem", set())]
)
def test_wide_registers_are_there_where_the_system_saves_them(build_dir, tmp_path, cpu, has):
    profile = good_profile()
    profile["machine"]["cpu"]["features"] = []
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    command = (*X86_64.emulated(cpu), build_dir / "asterope-tune", "check", "profile.json")
    done = run_command(*command, cwd=tmp_path)
    found = re.search(r"cpu\.features: (.*) only here", done.stdout)
    assert found and WIDE & set(found[1].split()) == has, done
