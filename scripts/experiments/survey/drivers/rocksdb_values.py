"""RocksDB: values of 64 KiB read."""

import tempfile

import rocksdict
from repeat import noise, repeat

data = noise(16 << 20)
with tempfile.TemporaryDirectory() as folder:
    store = rocksdict.Rdict(folder, rocksdict.Options(raw_mode=True))
    keys = [b"%d" % i for i in range(256)]
    for i, key in enumerate(keys):
        store[key] = data[i << 16 : (i + 1) << 16]
    store.flush()
    repeat(lambda: [store[key] for key in keys][7], 16 << 20)
    store.close()
