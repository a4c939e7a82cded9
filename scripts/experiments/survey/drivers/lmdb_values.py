"""LMDB: values of 64 KiB read."""

import tempfile

import lmdb
from repeat import noise, repeat

data = noise(16 << 20)
keys = [b"%d" % i for i in range(256)]
with (
    tempfile.TemporaryDirectory() as folder,
    lmdb.open(folder, map_size=64 << 20, sync=False) as store,
):
    with store.begin(write=True) as writer:
        for i, key in enumerate(keys):
            writer.put(key, data[i << 16 : (i + 1) << 16])
    with store.begin() as reader:
        repeat(lambda: [reader.get(key) for key in keys][7], 16 << 20)
