"""What a file of several profiles has chosen is what that profile alone would be."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from architectures import (
    SHORT_VECTORS,
    WITH_SVE,
    WITHOUT_SVE,
    X86_64,
    build_dispatch_check,
    each,
)
from asterope.spaces.probes import PROBES, SensingCopy
from copy_programs import (
    SHORT,
    assert_right,
    copies_taken,
    output_of,
    profile_json,
    render,
)
from dispatch_machines import (
    ALL,
    FLAVOURS,
    STREAMED_XMM,
    XMM,
    YMM,
    build_which,
    render_machines,
    render_profiles,
    which,
    with_profile,
)
from profile_samples import good_profile, of
from test_memcpy_mt import build_check


@pytest.fixture(scope="module")
def avx2() -> None:
    X86_64.cpu_for(YMM)
    if not X86_64.is_native:
        pytest.skip("takes x86-64's profiles as examples")


def bodies_of(routine: Path) -> dict[str, str]:
    """The assembly of each naked function, by its name."""
    text = routine.read_text(encoding="ascii")
    pattern = r"(?:NAKED void \*|^void )(\w+)\([^{;]*?\)\n\{\n(    __asm__\(\n.*?)\n\}\n"
    return dict(re.findall(pattern, text, re.MULTILINE | re.DOTALL))


def test_a_profile_s_functions_have_the_instructions_that_they_have_alone(tmp_path):
    """Sensing copies, aliasing buffers, intents and all."""
    good, other = tmp_path / "good.json", tmp_path / "other.json"
    good.write_text(json.dumps(good_profile()), encoding="utf-8")
    sensing = {65536: SensingCopy(PROBES[0], 200, XMM, YMM)}
    # with a small copy as far as the other's: else the shared pipelines need a way for fewer bytes
    bound = of(good_profile(), "small")[0]["up_to"]
    small = X86_64.small[f"stepped XMM middle {bound}"]
    text = profile_json([(4096, XMM), (65536, YMM)], small, sensing=sensing)
    other.write_text(text, encoding="utf-8")
    several = {
        # what is named by the profile or numbered after the other's, as it is alone
        name.replace("_good_", "_"): body.replace("_good_", "_").replace("_sense_2", "_sense_1")
        for name, body in bodies_of(render_profiles(tmp_path, [other, good])).items()
        if name not in {f"asterope_{function}" for function in (*ALL, "sense_1")}
        and not re.match("asterope_memcpy_", name)
    }
    several["asterope_sense_1"] = several.pop("asterope_sense_2")
    alone = bodies_of(render(good, tmp_path / "alone"))
    assert {f"asterope_{name}" for name in (*ALL, "memcpy_hot", "sense_1")} < alone.keys()
    others = ("untuned", "move_downwards_ymm_128", "move_upwards_ymm_128", "move_upwards_xmm_128")
    assert {f"asterope_{name}" for name in others} < alone.keys()
    for name, body in alone.items():  # one at a time, for a readable difference
        assert several[name] == body, name


def render_rich(folder: Path) -> Path:
    """A file of two profiles that have other things than each other."""
    plain = json.loads(profile_json([(300, XMM), (1 << 20, STREAMED_XMM)]))
    intents = json.loads(
        profile_json(
            [(4096, YMM), (1 << 20, XMM)],
            X86_64.small["grouped YMM up 256"],
            intents={"hot": [(4096, YMM)], "consume": [(4096, STREAMED_XMM)]},
            overlapping=X86_64.overlapping_copies.Tuple("YMM", 256),
            memset=FLAVOURS["avx2"].memset,
            shares=[(131071, 4194304, 2, 65536)],
        )
    )
    for name, raw in (("plain", plain), ("intents", intents)):
        (folder / f"{name}.json").write_text(json.dumps(raw), encoding="utf-8")
    return render_profiles(folder, [folder / "plain.json", folder / "intents.json"])


@pytest.fixture(scope="module")
def rich(avx2, tmp_path_factory) -> Path:
    return render_rich(tmp_path_factory.mktemp("rich"))


# What a CPU takes that was asked for it, copies.
COPYING = {
    "x86_64": [("", "plain"), ("", "intents"), ("", "fallback")],
    "aarch64": [
        (WITHOUT_SVE, "cortex-a57"),
        (SHORT_VECTORS, "neoverse-v1"),
        (WITH_SVE, "fallback"),
    ],
}


@each(COPYING)
def test_each_profile_copies_right_by_every_function(tmp_path, objects, arch, case):
    cpu, ask = case
    rich = arch is X86_64
    routine = render_rich(tmp_path) if rich else render_machines(arch, tmp_path)
    arch.cpu_for(YMM if rich else arch.plain)
    options = (*SHORT, "--around", "300,4096")
    expected = {"sets": True, "intents": ["hot", "consume"] * rich}
    command = (*arch.on(cpu), arch.routine_check(routine, objects), *options)
    assert_right(*command, **expected, env=with_profile(ask))


def test_a_profile_without_memset_takes_the_fallback_s(rich, avx2):
    program = build_which(rich)
    for ask, taken in (("plain", "fallback"), ("intents", "intents"), ("fallback", "fallback")):
        assert which(program, ask=ask, function="memset") == taken


def test_a_profile_without_an_intent_takes_its_memcpy_for_it(rich, avx2):
    program = build_which(rich, intents=("memcpy_hot", "memcpy_consume"))
    for ask in ("plain", "intents", "fallback"):
        for function in ("memcpy_hot", "memcpy_consume"):
            taken = "memcpy" if ask == "plain" else function
            out = output_of(program, f"asterope_{function}", 4096, 100, env=with_profile(ask))
            assert out == f"asterope_{ask}_{taken}\n"


@pytest.mark.parametrize("flags", [(), ("-DASTEROPE_NO_IFUNC",)], ids=["ifunc", "variable"])
def test_copies_over_threads_are_the_chosen_profile_s(rich, avx2, flags):
    program = build_check(X86_64, rich, *flags)
    for name, threads in (("intents", 2), ("plain", 1), ("fallback", 1)):
        assert output_of(program, "copies", env=with_profile(name)).endswith("ok\n")
        tasks = output_of(program, "tasks", 4, env=with_profile(name)).splitlines()
        assert (int(tasks[0]), tasks[-1]) == (threads, "ok")


def test_sensing_copies_wait_for_the_counter_in_every_profile(tmp_path, avx2, monkeypatch):
    """The gate that a constructor opens is one for all; steps of both name their own copies."""
    for number, name in ((1, "one"), (2, "two")):
        sensing = SensingCopy(PROBES[0], 100 * number, XMM, STREAMED_XMM)
        raw = profile_json([(4096, XMM), (65536, YMM)], sensing={65536: sensing})
        (tmp_path / f"{name}.json").write_text(raw, encoding="utf-8")
    routine = render_profiles(tmp_path, [tmp_path / "one.json", tmp_path / "two.json"])
    program = build_dispatch_check(X86_64, routine)
    for number, name in ((1, "one"), (2, "two")):
        monkeypatch.setenv("ASTEROPE_PROFILE", name)
        taken = copies_taken(program, "asterope_memcpy", 2**40, [4096, 5000])
        assert taken == [f"asterope_copy_{XMM.symbol}", f"asterope_sense_{number}"]
