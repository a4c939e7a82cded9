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
    "../../home/bob/secret/x.json": "x.json",
    "see ./secret/x.json, or ../y": "see x.json, or y",
    "run by ~bob/secret/app": "run by app",
    "~b.ob-2/app": "app",
    "/home/bob/My Files/secret plans/app": "app",
    "/usr/bin/app --lib=/home/bob/y and /home/bob/z": "app --lib=y and z",
    "lib=/home/bob smith/x.so": "lib=x.so",
    "a=/home/bob/x b=/home/bob/y": "a=x b=y",
    "x,/home/bob/a.so,/home/bob/b.so": "x,a.so,b.so",
    "/home/bob/a.so,~/b,c/d.so": "a.so,d.so",
    "5.2 GB / s, of 1 /": "5.2 GB / s, of 1 /",
    "joan_profile, Joan's BOX_2, of_joan": "-_profile, -'s -_2, of_-",
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


def test_a_log_that_a_killed_run_cut_short_is_packed_without_its_last_line(tmp_path):
    log = tmp_path / "run.trials"
    for text in ('{"ns": 1.5}\n{"ns": 2.5}\n', '{"ns": 1.5}\n{"ns": 2.5}\n{"candidate": "YM'):
        log.write_text(text)
        with tarfile.open(fileobj=io.BytesIO(share.pack([log], NAMES))) as archive:
            assert archive.extractfile("run.trials").read() == b'{"ns": 1.5}\n{"ns": 2.5}\n'


@pytest.mark.parametrize(
    ("text", "line"), [('{"a": 1}\n{]\n{"a": 1}\n', 2), ('{"a', 1), ('{"a":\n', 1)]
)
def test_what_is_not_json_gets_one_line_with_its_file_and_place(tmp_path, capsys, text, line):
    log = tmp_path / "run.trials"
    log.write_text(text)
    assert share.main([str(tmp_path / "x.tar.gz"), str(log)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"asterope.share: {log}: line {line}: not JSON: ")
    assert said.count("\n") == 1
    assert not (tmp_path / "x.tar.gz").exists()
