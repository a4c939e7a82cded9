"""lz4: data that does not compress, there and back."""

import lz4.frame
from repeat import noise, repeat

data = noise(16 << 20)
repeat(lambda: lz4.frame.decompress(lz4.frame.compress(data)), 2 * len(data))
