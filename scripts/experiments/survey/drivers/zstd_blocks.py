"""zstd: data that does not compress, there and back."""

import zstandard
from repeat import noise, repeat

data = noise(16 << 20)
into, back = zstandard.ZstdCompressor(level=1), zstandard.ZstdDecompressor()
repeat(lambda: back.decompress(into.compress(data)), 2 * len(data))
