"""scripts/tune --share sends all figures, and no name of a host, a user or a path."""

import io
import json
import tarfile

import pytest
from asterope import share
from profile_samples import good_profile

NAMES = ["box.example.org", "box", "joan"]
WORDS = {
    "mapped from /sys/bus/pci/devices/0000:01:00.0/resource1_wc": "mapped from resource1_wc",
    "/home/joan/glibc-2.41.so:memcpy": "glibc-2.41.so:memcpy",
    "the governor is powersave: see ~/notes": "the governor is powersave: see notes",
    "box.example.org of joan": "- of -",
    "toolbox, joanna": "toolbox, joanna",
    "AMD EPYC 9454P 48-Core, Linux 6.1.0": "AMD EPYC 9454P 48-Core, Linux 6.1.0",
    "ratio 1/2": "ratio 1/2",
}


@pytest.mark.parametrize(("given", "left"), WORDS.items())
def test_names_and_paths_go_and_all_else_stays(given, left):
    assert share.anonymous({given: [given, 1.5]}, NAMES) == {left: [left, 1.5]}


def test_the_file_holds_all_that_was_given_and_is_the_same_again(tmp_path):
    profile = tmp_path / "joan.json"
    profile.write_text(json.dumps(good_profile()))
    log = tmp_path / "run.trials"
    log.write_text('{"options": {"source_map": "/home/joan/data"}}\n{"ns": 1.5}\n')
    packed = share.pack([profile, log], NAMES)
    assert packed == share.pack([profile, log], NAMES)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        texts = {one.name: archive.extractfile(one).read().decode() for one in archive}
    assert list(texts) == ["-.json", "run.trials"]
    own = json.loads(texts["-.json"])
    assert own["choices"] == good_profile()["choices"]
    assert own["search"]["source_map"] == "resource1_wc"
    assert texts["run.trials"] == '{"options": {"source_map": "data"}}\n{"ns": 1.5}\n'


def test_what_cannot_be_read_or_written_gets_one_line(tmp_path, capsys):
    assert share.main([str(tmp_path / "x.tar.gz"), str(tmp_path / "absent.json")]) == 2
    assert "absent.json" in capsys.readouterr().err
    (tmp_path / "p.json").write_text("{}")
    assert share.main([str(tmp_path), str(tmp_path / "p.json")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
