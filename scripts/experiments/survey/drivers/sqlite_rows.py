"""SQLite: rows of 64 KiB in memory, read again and again."""

import sqlite3

from repeat import noise, repeat

data = noise(16 << 20)
store = sqlite3.connect(":memory:")
store.execute("create table rows (number integer primary key, value blob)")
values = ((i, data[i << 16 : (i + 1) << 16]) for i in range(256))
store.executemany("insert into rows values (?, ?)", values)


def read() -> bytes:
    for (value,) in store.execute("select value from rows order by number"):  # noqa: B007
        pass
    return value


repeat(read, 16 << 20)
