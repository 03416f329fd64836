"""The cases as PyTorch programs: the reference, and the contestants eager and compile."""

import time

import torch
import torch.nn.functional as F

from . import stencils
from .contest import Entry, NotApplicable

VERSION = torch.__version__

DTYPES = {
    "u8": torch.uint8,
    "i32": torch.int32,
    "i64": torch.int64,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "e4m3": torch.float8_e4m3fn,
}


# arg_max gives the index along one axis, or among all elements, in CuPy as in PyTorch.
REDUCTIONS = {
    "sum": lambda a, axes: torch.sum(a, axes),
    "max": lambda a, axes: torch.amax(a, axes),
    "arg_max": lambda a, axes: torch.argmax(a, axes[0] if len(axes) == 1 else None),
}


def _wide(tensor):
    """The tensor in the type in which tmajit's expressions compute: bf16 and e4m3 as f32."""
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float8_e4m3fn) else tensor


def _cast(tensor, to):
    """A cast that clamps floats to an integer's least and largest value."""
    if tensor.dtype.is_floating_point and to == torch.uint8:
        return _wide(tensor).clamp(0, 255).to(to)
    return tensor.to(to)


def seen(case, tensors):
    """The sources of a case with its views applied."""
    orders = case.get("orders", [])
    return [tensor.permute(orders[i]) if i < len(orders) and orders[i] else tensor
            for i, tensor in enumerate(tensors)]


def _expression(case, precise):
    if "expression" not in case:
        raise NotApplicable(f"peers.py has no formula for {case['operation']}; tmajit-movement measures it")
    destination = case["destinations"][0]
    to = DTYPES[destination["type"]]
    wide = _wide if precise else (lambda tensor: tensor)
    return {
        "3": lambda: torch.full(destination["shape"], 3, dtype=to, device="cuda"),
        "cast": lambda a: _cast(a, to),
        "2a+1": lambda a: (wide(a) * 2 + 1).to(to),
        "a+b": lambda a, b: (wide(a) + wide(b)).to(to),
        "a+b+c": lambda a, b, c: (wide(a) + wide(b) + wide(c)).to(to),
        "a": lambda a: a.to(to),
        "100a": lambda a: (a * 100).clamp(0, 255).to(to),
        "2.5a": lambda a: (a.float() * 2.5).to(to),
        "silu(a)*b+1": lambda a, b: (F.silu(wide(a)) * wide(b) + 1).to(to),
        "normalise": lambda a: (a.float() * (1 / 255) - 0.45) * (1 / 0.225),
    }[case["expression"]]


def seen_shape(case):
    """The shape of the first source with its view applied."""
    shape, orders = case["sources"][0]["shape"], case.get("orders", [[]])
    return [shape[axis] for axis in orders[0]] or shape


def _padding(case):
    """The widths for F.pad: before and after, the last dimension first."""
    pads = []
    source, destination = seen_shape(case), case["destinations"][0]["shape"]
    for before, inner, outer in reversed(list(zip(case["arguments"]["widths"]["before"], source, destination))):
        pads += [before, outer - inner - before]
    return pads


def _images(case):
    """A function that returns the tiles of a matrix one after the other, as bytes, with zeros outside of the matrix."""
    rows, columns = case["image"]

    def images(a):
        a = F.pad(a, (0, -a.shape[1] % columns, 0, -a.shape[0] % rows))
        tiles = a.view(a.shape[0] // rows, rows, a.shape[1] // columns, columns).permute(0, 2, 1, 3)
        return tiles.contiguous().view(-1, rows * columns).view(torch.uint8)

    return images


def _stencil(case):
    to, given = DTYPES[case["destinations"][0]["type"]], case["arguments"]
    boundary = given.get("boundary", "zero")
    rank, shape = len(case["sources"][0]["shape"]), case["sources"][0]["shape"]

    def pad(a, reach):
        if boundary in ("zero", "constant"):
            widths = [reach.get(d, 0) for d in reversed(range(rank)) for _ in range(2)]
            return F.pad(a, widths, value=given.get("value", 0))
        for d, far in reach.items():
            a = a.index_select(d, torch.tensor(stencils.boundary_indices(shape[d], far, boundary), device=a.device))
        return a

    compute = stencils.formula(case, pad)
    if to == torch.uint8:  # u8 arithmetic would wrap around
        return lambda a: compute(a.to(torch.int16)).to(to)
    return lambda a: compute(_wide(a)).to(to)  # sums of many bf16 would lose their last bits


def formula(case, precise=False):
    """A function of the sources that returns the destinations' values: tensors or views of the sources.

    precise: computes like tmajit's expressions, for the reference."""
    move = _formula(case, precise)
    return lambda *sources: move(*seen(case, sources))


def _formula(case, precise):
    operation, given = case["operation"], case["arguments"]
    axes, axis = given.get("axes"), given.get("axis")
    shape = case["destinations"][0]["shape"]
    if operation == "copy":
        return lambda a: [a]
    if operation == "permute":
        return lambda a: [a.permute(axes)]
    if operation == "slice":
        slices = tuple(slice(*part) for part in given["slices"])
        return lambda a: [a[slices]]
    if operation == "pad":
        pads, value = _padding(case), given["value"]
        return lambda a: [F.pad(a, pads, value=value)]
    if operation == "flip":
        return lambda a: [torch.flip(a, axes)]
    if operation == "concat":
        return lambda *parts: [torch.cat(parts, axis)]
    if operation == "split":
        return lambda a: list(torch.split(a, given["parts"], axis))
    if operation == "broadcast":
        return lambda a: [a.expand(shape)]
    if operation == "reduce":
        wide = (lambda a: a.double()) if precise else (lambda a: a)
        to, reduction = DTYPES[case["destinations"][0]["type"]], REDUCTIONS[given["op"]]
        return lambda a: [reduction(wide(a), axes).to(to)]
    if operation == "scan":
        wide = (lambda a: a.double() if a.dtype.is_floating_point else a) if precise else (lambda a: a)
        to = DTYPES[case["destinations"][0]["type"]]
        return lambda a: [torch.cumsum(wide(a), axis, dtype=None if precise else to).to(to)]
    compute = {"snapshot": lambda: _images(case), "stencil": lambda: _stencil(case)}.get(
        operation, lambda: _expression(case, precise))()
    return lambda *sources: [compute(*sources)]


def _assign(case):
    """A function that computes the case and writes the destinations."""
    values = formula(case)

    def move(destinations, sources):
        for destination, value in zip(destinations, values(*sources)):
            destination.copy_(value)

    return move


def eager(case, sources, destinations):
    """PyTorch's calls for a case without torch.compile, with `out=` where PyTorch has it."""
    operation, given, to = case["operation"], case["arguments"], destinations[0]
    views = seen(case, sources)
    if operation in ("pad", "flip"):  # they have no `out=` and return a new tensor
        values = formula(case)
        returned = []

        def run():
            returned[:] = values(*sources)

        return Entry("eager", run, lambda: returned)
    if operation == "reduce":
        axes = given["axes"]
        run = {
            "sum": lambda: torch.sum(views[0], axes, out=to),
            "max": lambda: torch.amax(views[0], axes, out=to),
            "arg_max": lambda: torch.argmax(views[0], axes[0] if len(axes) == 1 else None, out=to),
        }[given["op"]]
    elif operation == "scan":
        run = lambda: torch.cumsum(views[0], given["axis"], dtype=to.dtype, out=to)
    elif operation == "concat":
        run = lambda: torch.cat(views, given["axis"], out=to)
    elif case.get("expression") == "2a+1":
        run = lambda: torch.add(torch.mul(views[0], 2), 1, out=to)
    elif case.get("expression") == "a+b":
        run = lambda: torch.add(*views, out=to)
    elif case.get("expression") == "silu(a)*b+1":
        run = lambda: torch.add(F.silu(views[0]).mul_(views[1]), 1, out=to)
    else:
        move = _assign(case)
        run = lambda: move(destinations, sources)
    return Entry("eager", run, lambda: destinations)


def set_compiler(keep_graphs):
    """Configures what torch.compile stores for later processes: whole graphs with their kernels' source
    (keep_graphs), or only the kernels that Triton compiled. It repeats choices by measuring in each process, because
    other processes may have used the device during earlier measurements."""
    import torch._inductor.config as config

    for name, value in (("fx_graph_cache", keep_graphs), ("autotune_local_cache", False)):
        if hasattr(config, name):
            setattr(config, name, value)


def compiled(case, sources, destinations):
    """torch.compile of the whole move, with static shapes."""
    # Every case is the same function with other constants. Without a reset torch.compile would stop compiling it
    # after a few cases, and run it eagerly.
    torch._dynamo.reset()
    move = torch.compile(_assign(case), fullgraph=True, dynamic=False)
    start = time.perf_counter()
    move(destinations, sources)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - start
    return Entry(
        "compile",
        lambda: move(destinations, sources),
        lambda: destinations,
        notes={"first_call_s": round(seconds, 3)},
    )
