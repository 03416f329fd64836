"""Layout moves, maps, reductions, scans and more on Hopper GPUs, by kernels that are generated at run time.

Every function takes arrays of any library that supports DLPack, and returns arrays of the same library. On
arrays in the CPU's memory kernels run on a simulated device, which reports their mistakes instead of hanging.
"""

from . import _nvrtc  # sets TMAJIT_NVRTC before the library is loaded

try:
    from . import _core
except ImportError as error:
    if "subinterpreters" in str(error):
        raise ImportError(
            "tmajit keeps devices and kernels for the whole process and runs in the main interpreter only; "
            "import it there"
        ) from None
    raise

from ._chains import Chain
from ._check import Finding, Report, check, ptx_of, rules
from ._conveniences import *
from ._errors import ArgumentError, CompileError, Error, SpecError, Violation
from ._kernels import Kernel, KernelTuning, TensorMap, kernel, tune_kernel
from ._operations import *
from ._options import options
from ._plans import Explanation, Plan, plan

__version__ = _core.__version__
