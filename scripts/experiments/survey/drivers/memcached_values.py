"""memcached: values of 512 KiB set and got."""

from repeat import noise, repeat
from server import ask, server

value = noise(1 << 19)
head, end = b"VALUE key-0 0 524288\r\n", b"\r\nEND\r\n"
answer = bytearray(len(head) + len(value) + len(end))
with server("memcached", "-u", "root", "-s", "{socket}", "-m", "256", "-t", "1") as link:

    def set_and_get() -> bytearray:
        for key in range(8):
            put = b"set key-%d 0 0 524288\r\n%s\r\n" % (key, value)
            ask(link, put, memoryview(answer)[: len(b"STORED\r\n")])
            ask(link, b"get key-%d\r\n" % key, memoryview(answer))
        return answer

    repeat(set_and_get, 8 << 20)
