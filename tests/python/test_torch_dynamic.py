"""torch.compile with dynamic shapes: one traced graph serves every shape. Skipped without PyTorch."""

from __future__ import annotations

import pytest

import operation_cases
import tmajit

torch = pytest.importorskip("torch")
from torch._dynamo.testing import CompileCounterWithBackend  # noqa: E402

import tmajit.torch as operators  # noqa: E402

#: No result has an extent of 1 or 0, which PyTorch traces separately.
SHAPES = [(6, 7), (9, 8), (5, 31), (64, 17)]
#: Calls of one tensor: linear ones, then the remaining ones.
LINEAR = {
    "copy": lambda f, x: f.copy(x),
    "permute": lambda f, x: f.permute(x, (1, 0)),
    "flip": lambda f, x: f.flip(x, (0, -1)),
    "pad": lambda f, x: f.pad(x, ((1, 2), (0, 3)), 7.0),
    "pad that crops": lambda f, x: f.pad(x, ((-1, 2), (1, -2))),
    "pad by a symbolic width": lambda f, x: f.pad(x, ((x.shape[1], 0), (0, x.shape[0] // 2))),
    "slice": lambda f, x: f.slice(x, (slice(1, None), slice(None, -1))),
    "slice with steps": lambda f, x: f.slice(x, (slice(None, None, 2), slice(None, None, -3))),
    "slice between negative bounds": lambda f, x: f.slice(x, (slice(-2, None), slice(-4, -1))),
    "slice to a symbolic bound": lambda f, x: f.slice(x, (slice(x.shape[0] // 2), slice(1, x.shape[1], 2))),
    "broadcast": lambda f, x: f.broadcast(f.slice(x, (slice(0, 1),)), (3, *x.shape)),
    "concat": lambda f, x: f.concat([x, f.permute(x, (0, 1)), x], -1),
    "concat of different extents": lambda f, x: f.concat([x, f.slice(x, (slice(1, None),))], 0),
    "concat along a new axis": lambda f, x: f.concat([x, x], -1, new_axis=True),
    "split": lambda f, x: f.split(x, 0, (x.shape[0] // 2, x.shape[0] - x.shape[0] // 2))[1],
    "copy_ragged": lambda f, x: f.copy_ragged([x, f.slice(x, (slice(1),))])[0],
    "im2col": lambda f, x: f.im2col(x.reshape(1, *x.shape, 1), (2, 3), padding=((1, 1), (2, 0))),
    "cast": lambda f, x: f.cast(x, "float64"),
    "reduce": lambda f, x: f.sum(x, 0),
    "reduce of all dimensions": lambda f, x: f.sum(x),
    "reduce with extents of 1": lambda f, x: f.mean(x, -1, keep_dims=True),
    "scan": lambda f, x: f.cumsum(x, 1, exclusive=True),
    "gather": lambda f, x: f.gather(x, torch.arange(2 * x.shape[0]) % 4, 0),
    "sums of ragged bags": lambda f, x: f.gather_sum(
        x, torch.arange(2 * x.shape[0]) % 4, offsets=torch.arange(0, 2 * x.shape[0] + 1, 2)
    ),
    "gather along an axis": lambda f, x: f.gather(x, torch.ones_like(x, dtype=torch.int32), 1, along=True),
}
RECIPES = {
    "softmax": lambda f, x: f.softmax(x),
    "log_softmax along the first axis": lambda f, x: f.log_softmax(x, 0),
    "logsumexp": lambda f, x: f.logsumexp(x),
    "rms_norm": lambda f, x: f.rms_norm(x, f.sum(x, 0)),
    "layer_norm": lambda f, x: f.layer_norm(x, f.sum(x, 0), f.mean(x, 0)),
    "add_rms_norm": lambda f, x: f.add_rms_norm(x, x)[0],
    "l2_normalize": lambda f, x: f.l2_normalize(x),
    "swiglu of one tensor": lambda f, x: f.swiglu(f.concat([x, x], -1)),
    "swiglu of two tensors": lambda f, x: f.swiglu(x, x),
    "rotary": lambda f, x: f.rotary(f.concat([x, x], 1), x, f.flip(x, 0)),
    "top_k": lambda f, x: f.top_k(x, 2)[0],
    "moe_permute": lambda f, x: f.moe_permute(x, torch.arange(x.shape[0]) % 3, 3)[0],
}
COMPUTATIONS = {
    "rowwise with a value for each element": lambda f, x: f.rowwise(x, "y = x - max(x)"),
    "rowwise with a value for each row": lambda f, x: f.rowwise(x, "y0 = max(x); y1 = x - y0", 0)[0],
    "max_with_index": lambda f, x: f.max_with_index(x)[1],
    "quantize_rows": lambda f, x: f.quantize_rows(x, to="i8")[1],
    "quantize_rows in blocks": lambda f, x: f.quantize_rows(f.concat([x, x], 0), 0, 2, to="i8")[1],
    "map": lambda f, x: f.map("2 * x0 + x1", x, f.slice(x, (slice(0, 1),))),
    "stencil": lambda f, x: f.stencil("x(0, 1) - x(-1, 0)", x, boundary="clamp"),
    "reduce of an expression": lambda f, x: f.reduce([x, x], "max", 1, expression="x0 * x1"),
    "argmax": lambda f, x: f.argmax(x, 0),
}
CALLS = LINEAR | RECIPES | COMPUTATIONS


def numbers(*shape):
    return torch.from_numpy(operation_cases.numbers(*shape))


def compiled(function, dynamic=True):
    """The compiled function, and a counter of its graphs."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    return torch.compile(function, fullgraph=True, dynamic=dynamic, backend=counter), counter


@pytest.mark.parametrize("name", CALLS)
def test_one_graph_serves_all_shapes(name):
    function, counter = compiled(lambda x: CALLS[name](operators, x))
    for shape in SHAPES:
        x = numbers(*shape)
        found, wanted = function(x), CALLS[name](tmajit, x)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert torch.equal(found, wanted)
    assert counter.frame_count == 1


@pytest.mark.parametrize("name", LINEAR | RECIPES)
def test_one_graph_serves_the_gradients_of_all_shapes(name):
    function, counter = compiled(lambda x: CALLS[name](operators, x))
    for shape in SHAPES:
        ours, theirs = (numbers(*shape).requires_grad_() for _ in range(2))
        for one, call in ((ours, function), (theirs, lambda x: CALLS[name](operators, x))):
            result = call(one)
            (result * torch.arange(result.numel()).reshape(result.shape)).sum().backward()
        assert torch.equal(ours.grad, theirs.grad)
    assert counter.frame_count == 1


def test_a_convolution_and_its_gradients():
    def convolve(x, w):
        return operators.convolution(x, w, padding=(1, 1), strides=(2, 2))

    function, counter = compiled(convolve)
    for n, pixels, channels, filters in [(2, 6, 4, 5), (3, 9, 5, 2), (5, 7, 2, 6)]:
        gradients = []
        for call in (function, convolve):
            x = numbers(n, pixels, pixels + 1, channels).requires_grad_()
            w = numbers(filters, 3, 3, channels).requires_grad_()
            result = call(x, w)
            result.square().sum().backward()
            gradients.append((result.detach(), x.grad, w.grad))
        assert all(map(torch.equal, *gradients))
    assert counter.frame_count == 1


def test_sources_of_different_shapes():
    function, counter = compiled(lambda x, y: operators.concat([operators.map("x0 + x1", x, y), x], 0))
    for n, m in SHAPES:
        x, y = numbers(n, m), numbers(m)
        assert torch.equal(function(x, y), torch.cat([x + y, x]))
    assert counter.frame_count == 1
    # An extent of 1 is repeated: PyTorch traces again.
    x, y = numbers(7, 5), numbers(1)
    assert torch.equal(function(x, y), torch.cat([x + y, x]))
    assert counter.frame_count == 2


def test_a_chain_that_writes_out():
    @torch.no_grad()
    def chain(x, out, total):
        y = operators.pad(operators.permute(x, (1, 0)), ((0, 1), (0, 0)))
        operators.cast(y, torch.float64, out=out)
        operators.reduce_into(y, "add", total)
        return operators.sum(y, 0)

    function, counter = compiled(chain)
    for n, m in SHAPES:
        x, out, total = numbers(n, m), torch.zeros(m + 1, n, dtype=torch.float64), torch.ones(m + 1, n)
        assert torch.equal(function(x, out, total), x.sum(1))
        assert torch.equal(out[:-1], x.T.double())
        assert torch.equal(total, out.float() + 1)
    assert counter.frame_count == 1


def test_shapes_that_select_in_another_way_are_traced_again():
    function, counter = compiled(lambda x: operators.slice(x, (slice(10), slice(None))))
    for rows, graphs in [(20, 1), (30, 1), (5, 2), (7, 2), (40, 2)]:
        x = numbers(rows, 3)
        assert torch.equal(function(x), x[:10])
        assert counter.frame_count == graphs


def test_dimensions_marked_as_dynamic_stay_so():
    function, counter = compiled(
        lambda x: operators.permute(operators.pad(x, ((1, 1), (0, 0))), (1, 0)), None
    )
    for n in (3, 8, 21):
        x = numbers(n, 4)
        torch._dynamo.mark_dynamic(x, 0)  # an error if the extent is not symbolic to the end
        assert torch.equal(function(x), torch.nn.functional.pad(x.T, (1, 1)))
    assert counter.frame_count == 1


def test_other_shapes_are_dynamic_from_the_second_on():
    function, counter = compiled(lambda x: operators.flip(x, 0), None)
    for n in (3, 4, 5, 6, 7):
        assert torch.equal(function(numbers(n, 2)), numbers(n, 2).flip(0))
    assert counter.frame_count == 2


def test_exported_programs_take_other_shapes():
    class Module(torch.nn.Module):
        def forward(self, x):
            return operators.cumsum(operators.slice(x, (slice(1, None), slice(None, None, 2))), 0)

    rows, columns = torch.export.Dim("rows", min=3), torch.export.Dim("columns", min=3)
    program = torch.export.export(Module(), (numbers(6, 5),), dynamic_shapes={"x": {0: rows, 1: columns}})
    for shape in SHAPES[:2]:
        x = numbers(*shape)
        assert torch.equal(program.module()(x), x[1:, ::2].cumsum(0, dtype=torch.float32))


def test_tiles_are_traced_for_each_shape():
    function, counter = compiled(lambda x: operators.tiles(x, "copy"))
    for n in (16, 32, 48):
        x = numbers(n, 32)
        assert torch.equal(function(x), x)
    assert counter.frame_count == 3


def test_errors_of_the_first_shape_and_of_a_later_one():
    for shapes in ([(3, 3)], [(9, 3), (3, 3)]):
        function, _ = compiled(lambda x: operators.pad(x, ((-2, -2), (0, 0))))
        for shape in shapes[:-1]:
            assert torch.equal(function(numbers(*shape)), numbers(*shape)[2:-2])
        with pytest.raises(Exception, match="widths -2,0:-2,0 crop 4 elements"):
            function(numbers(*shapes[-1]))
