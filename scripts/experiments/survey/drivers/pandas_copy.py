"""pandas: a deep copy of a frame of four columns."""

import numpy as np
import pandas as pd
from repeat import repeat

frame = pd.DataFrame({name: np.arange(1 << 20, dtype=float) for name in "abcd"})
repeat(lambda: frame.copy(deep=True)["b"].to_numpy(), 32 << 20)
