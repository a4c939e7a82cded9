"""faiss: vectors of 512 bytes taken out of a flat index by their numbers."""

import faiss
import numpy as np
from repeat import repeat

vectors = np.arange(1 << 24, dtype=np.float32).reshape(-1, 128)
index = faiss.IndexFlatL2(128)
index.add(vectors)
numbers = np.random.default_rng(1).integers(0, len(vectors), 1 << 15)
repeat(lambda: index.reconstruct_batch(numbers), 16 << 20)
