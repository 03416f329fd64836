"""The GPU through PyTorch: the buffers that contestants share, streams, events and graphs."""

import torch

from .contest import NotApplicable
from .torch_moves import DTYPES, formula

SCRATCH_BYTES = 256 << 20
SCRATCH_FILLS = 6  # half a millisecond on an H200

# These masks clear the highest exponent bit: the floating-point number is then finite and below 2.
_MASKS = {
    "f64": 0xBFFFFFFFFFFFFFFF,
    "f32": 0xBFFFFFFFBFFFFFFF,
    "bf16": 0xBFFFBFFFBFFFBFFF,
    "e4m3": 0xBFBFBFBFBFBFBFBF,
}
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def why_not():
    """The reason why there is no suitable GPU; None if there is one."""
    if not torch.cuda.is_available():
        return "PyTorch sees no CUDA device"
    major, minor = torch.cuda.get_device_capability()
    return None if (major, minor) == (9, 0) else f"compute capability {major}.{minor}, not 9.0"


def free_bytes():
    """Free memory of the device."""
    return torch.cuda.mem_get_info()[0]


def ordinal():
    """The driver's number of PyTorch's device; both see the devices in CUDA_VISIBLE_DEVICES."""
    return torch.cuda.current_device()


class TorchMachine:
    """PyTorch's current GPU, with one stream and the buffers of the sources and the destinations."""

    has_graphs = True

    def __init__(self):
        torch.cuda.init()
        self._stream = torch.cuda.Stream()
        torch.cuda.set_stream(self._stream)
        self._scratch = torch.empty(SCRATCH_BYTES, dtype=torch.uint8, device="cuda")
        self._source = self._destination = None
        self._filled = (None, 0)  # mask and number of the bytes that fill() has written

    @property
    def stream(self):
        return self._stream.cuda_stream

    def fits(self, case):
        """Whether the device has memory for a case's buffers, its reference and a result that a contestant allocates."""
        need = case["source_bytes"] + 4 * case["destination_bytes"]
        spare = 4 << 30
        return need + spare < torch.cuda.get_device_properties(0).total_memory

    def reserve(self, cases):
        """Allocates the two buffers that all cases share."""
        size = lambda key: max(case[key] for case in cases)
        self._source = torch.empty(size("source_bytes"), dtype=torch.uint8, device="cuda")
        self._destination = torch.empty(size("destination_bytes"), dtype=torch.uint8, device="cuda")

    def addresses(self):
        return self._destination.data_ptr(), self._source.data_ptr()

    def arrays(self, case):
        """(sources, destinations) of a case, views of the two buffers."""
        return _views(self._source, case["sources"]), _views(self._destination, case["destinations"])

    def fill(self, case, seed):
        """Fills the sources with random elements, unless the previous case has already done so."""
        if not case["sources"]:
            return
        mask = _MASKS.get(case["sources"][0]["type"], 0xFFFFFFFFFFFFFFFF)
        size = case["source_bytes"]
        if self._filled[0] == mask and self._filled[1] >= size:
            return
        generator = torch.Generator(device="cuda").manual_seed(seed)
        words = self._source[: size // 8 * 8].view(torch.int64)
        words.random_(generator=generator)
        words &= mask - (1 << 64) if mask >> 63 else mask
        self._filled = (mask, size)

    def poison_destinations(self, case):
        """Overwrites the destinations, so that no contestant is checked by another's result."""
        self._destination[: case["destination_bytes"]].fill_(0xA5)

    def reference(self, case, sources):
        """The expected results of a case."""
        return [result.contiguous() for result in formula(case, precise=True)(*sources)]

    def differs(self, case, results, reference, tolerance):
        """The first error in a contestant's results; None if they are right."""
        for number, (result, expected) in enumerate(zip(results, reference)):
            if result.shape != expected.shape or result.dtype != expected.dtype:
                return f"destination {number} is {result.dtype} {tuple(result.shape)}"
            bits = _INTEGERS[expected.element_size()]
            if torch.equal(result.contiguous().view(bits), expected.view(bits)):
                continue
            wide = torch.float64 if expected.dtype == torch.float64 else torch.float32
            want = expected.to(wide)
            error = (result.to(wide) - want).abs_().div_(want.abs().clamp_(min=1)).max().item()
            if not error <= tolerance:
                return f"destination {number} is wrong by up to {error:.3g}, {tolerance:g} is allowed"
        return None

    def capture(self, run, launches):
        """A function that replays a CUDA graph of `launches` calls of `run`."""
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            for _ in range(launches):
                run()
        finally:
            graph.capture_end()
        return graph.replay

    def reset_l2(self):
        """Gives the host time to enqueue, and brings L2 to the same state for every contestant."""
        for _ in range(SCRATCH_FILLS):
            self._scratch.fill_(0x5A)

    def time(self, work):
        """Enqueues `work` between events. The result, called after synchronize(), is its microseconds."""
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        stop.record()
        return lambda: 1e3 * start.elapsed_time(stop)

    def synchronize(self):
        torch.cuda.synchronize()

    def require_alive(self):
        """Raises if a fault has made the context unusable, so that nothing more can be measured."""
        torch.cuda.synchronize()

    def release_cached_memory(self):
        """After a case: returns much memory that PyTorch caches to the driver, for libraries with pools of their own."""
        if torch.cuda.memory_reserved() > torch.cuda.memory_allocated() + (24 << 30):
            torch.cuda.empty_cache()


def _views(buffer, arrays):
    views = []
    for array in arrays:
        dtype = DTYPES.get(array["type"])
        if dtype is None:
            raise NotApplicable(f"PyTorch has no {array['type']}")
        count = dtype.itemsize
        for extent in array["shape"]:
            count *= extent
        start = array["offset"]
        views.append(buffer[start : start + count].view(dtype).view(array["shape"]))
    return views
