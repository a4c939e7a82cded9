"""Files that the Python commands read: opened without waiting, a byte order mark skipped."""

import os

import pytest
from asterope.text_file import open_to_read


def test_a_byte_order_mark_is_skipped_at_the_beginning_only(tmp_path):
    mark = b"\xef\xbb\xbf"
    texts = {mark + b"text": b"text", mark * 2: mark, b"a" + mark: b"a" + mark, b"": b""}
    for content, text in texts.items():
        (tmp_path / "file").write_bytes(content)
        with open_to_read(tmp_path / "file") as file:
            assert file.read() == text


def test_a_pipe_without_a_writer_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a pipe that nothing was written to"):
        open_to_read(tmp_path / "pipe")


def test_a_pipe_is_read_to_its_end(tmp_path):
    read_end, write_end = os.pipe()
    os.write(write_end, b"text")
    with open_to_read(f"/dev/fd/{read_end}") as file:
        os.write(write_end, b" and more")
        os.close(write_end)
        assert file.read() == b"text and more"
    os.close(read_end)
