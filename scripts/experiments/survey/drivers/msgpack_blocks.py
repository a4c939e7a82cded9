"""msgpack: 16 blocks of 1 MiB packed and unpacked."""

import msgpack
from repeat import noise, repeat

data = noise(16 << 20)
blocks = [data[i << 20 : (i + 1) << 20] for i in range(16)]
repeat(lambda: msgpack.unpackb(msgpack.packb(blocks))[7], 32 << 20)
