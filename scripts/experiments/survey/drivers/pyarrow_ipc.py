"""pyarrow: a table written as an IPC stream into memory."""

import pyarrow as pa
from repeat import repeat

table = pa.table({name: pa.array(range(1 << 20), pa.int64()) for name in "abcd"})


def write() -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


repeat(write, 32 << 20)
