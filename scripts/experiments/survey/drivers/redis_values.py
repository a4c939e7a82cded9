"""Redis: values of 1 MiB set and got."""

from repeat import noise, repeat
from server import ask, server

value = noise(1 << 20)
answer = bytearray(len(value) + len(b"$1048576\r\n\r\n"))
with server("redis-server", "--port", "0", "--unixsocket", "{socket}", "--save", "") as link:

    def set_and_get() -> bytearray:
        for key in range(8):
            name = b"$5\r\nkey-%d\r\n" % key
            put = b"*3\r\n$3\r\nSET\r\n%s$1048576\r\n%s\r\n" % (name, value)
            ask(link, put, memoryview(answer)[: len(b"+OK\r\n")])
            ask(link, b"*2\r\n$3\r\nGET\r\n" + name, memoryview(answer))
        return answer

    repeat(set_and_get, 16 << 20)
