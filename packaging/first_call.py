"""Makes the first call of a new process with the installed package, on the simulated device; prints its times.

If the package has packs, the kernel must come from them. TMAJIT_NVRTC=/none and an empty cache folder show it.
"""

import pathlib
import sys
import time

import numpy as np

start = time.perf_counter()
import tmajit  # noqa: E402

imported = time.perf_counter()
x = np.arange(64 * 128, dtype=np.float32).reshape(64, 128)
y = tmajit.concat([x, x], 0)
called = time.perf_counter()

assert (y == np.concatenate([x, x])).all()
levels = sorted({kernel["level"] for kernel in tmajit.history()})
times = f"import {1e3 * (imported - start):.1f} ms, first call {1e3 * (called - imported):.1f} ms"
print(f"{times}, the kernel is from: {', '.join(levels)}")
packs = sorted(pathlib.Path(tmajit.__file__).parent.glob("*.pack"))
if packs and levels != ["pack"]:
    sys.exit(f"the kernel is from no pack, although the package has {', '.join(pack.name for pack in packs)}")
