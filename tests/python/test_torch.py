"""The custom operators of PyTorch: tmajit.torch and torch.ops.tmajit. Skipped without PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import operation_cases
import tmajit
from operation_cases import CASES, LINEAR, as_list
from tmajit import _core
from tmajit._adjoints import RECIPES

torch = pytest.importorskip("torch")

import tmajit.torch as operators  # noqa: E402
from tmajit import _torch  # noqa: E402

DEVICES = ["cpu", "cuda"]


@pytest.fixture(params=DEVICES)
def device(request):
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    return request.param


def numbers(*shape):
    return torch.from_numpy(operation_cases.numbers(*shape))


def schema_arguments(case, convert):
    """The operator of a case, and the arguments that its function gives to it."""
    taken = []
    operator = _torch._OPERATORS[_core.find_operation(case.name)]
    functional = operator.functional
    operator.functional = lambda *given, **named: taken.append((given, named)) or [None]
    try:
        case.call(operators, convert)
    finally:
        operator.functional = functional
    return operator, *taken[0]


def test_every_operation_is_an_operator():
    for described in _core.operations():
        name = described["name"]
        assert hasattr(torch.ops.tmajit, name)
        assert getattr(operators, name).__doc__ == getattr(tmajit, name).__doc__


@pytest.mark.parametrize("case", CASES, ids=str)
def test_operators_equal_the_direct_path(case, device):
    sources = [torch.from_numpy(x).to(device) for x in as_list(case.sources)]
    given = sources if case.many else sources[0]
    wanted = as_list(case.call_on(tmajit, given))
    found = as_list(case.call_on(operators, given))
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.dtype, ours.device, ours.shape) == (theirs.dtype, theirs.device, theirs.shape)
        assert torch.equal(ours, theirs)
    if "dtype" not in case.arguments:
        out = [torch.zeros_like(one) for one in wanted]
        is_list = len(out) > 1 or case.name in ("split", "copy_ragged")
        case.call_on(operators, given, out=out if is_list else out[0])
        assert all(map(torch.equal, out, wanted))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_opcheck(case, device):
    def convert(x):
        return torch.from_numpy(x).to(device).requires_grad_(case.linear)

    operator, given, named = schema_arguments(case, convert)
    torch.library.opcheck(operator.functional, given, named)
    _, given, _ = schema_arguments(case, lambda x: torch.from_numpy(x).to(device))
    out = [torch.zeros_like(one) for one in as_list(operator.functional(*given, **named))]
    torch.library.opcheck(operator.out, given, {"out": out if operator.gives_many else out[0]})


@pytest.mark.filterwarnings("ignore:Input #")  # float32, on purpose
@pytest.mark.parametrize("case", LINEAR, ids=str)
def test_gradients(case, device):
    exact = torch.float32 if case.name == "convolution" else torch.float64
    sources = [torch.from_numpy(x).to(device, exact).requires_grad_() for x in as_list(case.sources)]
    named = {"dtype": torch.float32} if "dtype" in case.arguments else {}

    def function(*given):
        return case.call_on(operators, list(given) if case.many else given[0], **named)

    # Differences of a linear function are exact for wide steps, too.
    assert torch.autograd.gradcheck(function, sources, eps=0.5, atol=1e-3, fast_mode=True)
    if case.name != "convolution":
        assert torch.autograd.gradgradcheck(function, sources, eps=0.5, atol=1e-3, fast_mode=True)


@pytest.mark.parametrize("case", [case for case in CASES if case.name in RECIPES], ids=str)
def test_gradients_of_recipes(case, device):
    sources = []
    for x in as_list(case.sources):
        x = torch.from_numpy(x).to(device)
        sources.append((x / 8).double().requires_grad_() if x.is_floating_point() else x)
    assert torch.autograd.gradcheck(
        lambda *given: case.call_on(operators, list(given) if case.many else given[0]), sources
    )


def test_norms_and_losses_are_pytorchs(device):
    x, weight, bias = (numbers(*shape).to(device) / 4 for shape in ((6, 40), (40,), (40,)))
    labels = torch.tensor([0, 5, 39, -100, 7, 7], device=device)
    functional = torch.nn.functional
    calls = [
        (lambda x, w, b: operators.softmax(x), lambda x, w, b: torch.softmax(x, -1)),
        (lambda x, w, b: operators.log_softmax(x, 0), lambda x, w, b: torch.log_softmax(x, 0)),
        (lambda x, w, b: operators.logsumexp(x), lambda x, w, b: torch.logsumexp(x, -1)),
        (operators.layer_norm, lambda x, w, b: functional.layer_norm(x, (40,), w, b)),
        (
            lambda x, w, b: operators.rms_norm(x, w, eps=1e-5),
            lambda x, w, b: functional.rms_norm(x, (40,), w, 1e-5),
        ),
        (lambda x, w, b: operators.l2_normalize(x), lambda x, w, b: functional.normalize(x)),
        (
            lambda x, w, b: operators.cross_entropy(x, labels),
            lambda x, w, b: functional.cross_entropy(x, labels, reduction="none"),
        ),
    ]
    for ours, theirs in calls:
        gradients = []
        for function in (ours, theirs):
            given = [one.clone().requires_grad_() for one in (x, weight, bias)]
            result = function(*given)
            (result * torch.arange(result.numel(), device=device).reshape(result.shape)).sum().backward()
            gradients.append([result.detach(), *(one.grad for one in given if one.grad is not None)])
        for found, wanted in zip(*gradients, strict=True):
            torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
    a, b = x, x.flip(0)
    torch.testing.assert_close(operators.swiglu(a, b), functional.silu(a) * b)


def test_a_recipe_without_a_gradient_says_so(device):
    x = numbers(4, 8).to(device).requires_grad_()
    with pytest.raises(RuntimeError, match="tmajit.max_with_index has no gradient"):
        operators.max_with_index(x)[0].sum().backward()


def test_the_gradients_of_a_convolution_are_pytorchs(device):
    x, w = numbers(2, 6, 5, 4).to(device), numbers(3, 3, 3, 4).to(device)
    ours = [t.clone().requires_grad_() for t in (x, w)]
    theirs = [t.clone().requires_grad_() for t in (x, w)]
    found = operators.convolution(*ours, padding=(1, 1), strides=(2, 2))
    wanted = torch.nn.functional.conv2d(
        theirs[0].permute(0, 3, 1, 2), theirs[1].permute(0, 3, 1, 2), padding=1, stride=2
    ).permute(0, 2, 3, 1)
    assert torch.equal(found.reshape(wanted.shape), wanted)
    (found * found).sum().backward()
    (wanted * wanted).sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        assert torch.equal(mine.grad, other.grad)


def test_compiled_functions_have_no_graph_breaks(device):
    def function(x, bias):
        y = operators.permute(x, (1, 0))
        y = operators.pad(operators.slice(y, (slice(1, None), slice(None, None, 2))), ((1, 0), (0, 2)))
        first, second = operators.split(y, 0, (2, 4))
        return operators.concat([operators.flip(first, 0), second], 0).sum() + operators.sum(bias * 2)

    backend = "inductor" if device == "cuda" else "aot_eager"  # the former needs a compiler for the CPU
    compiled = torch.compile(function, fullgraph=True, backend=backend)
    gradients = []
    for one in (function, compiled):
        x = numbers(4, 6).to(device).requires_grad_()
        bias = numbers(3).to(device).requires_grad_()
        result = one(x, bias)
        result.backward()
        gradients.append((result.detach(), x.grad, bias.grad))
    assert all(map(torch.equal, *gradients))


def test_compiled_functions_write_out(device):
    @torch.compile(fullgraph=True, backend="aot_eager")
    def function(x, y, z):
        operators.permute(x, (1, 0), out=y)
        operators.reduce_into(y, "add", z)
        operators.map("g[0]", out=x)
        return operators.map("2 * x", z)

    x = numbers(4, 6).to(device)
    wanted = x.T + 1
    y, z = torch.zeros(6, 4, device=device), torch.ones(6, 4, device=device)
    doubled = function(x, y, z)
    assert torch.equal(z, wanted)
    assert torch.equal(doubled, 2 * wanted)
    assert torch.equal(x, torch.arange(4.0, device=device)[:, None].expand(4, 6))


def test_extents_that_depend_on_data_are_refused():
    @torch.compile(fullgraph=True, backend="aot_eager")
    def function(x):
        return operators.flip(x[x > 0], 0)

    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        with pytest.raises(Exception, match="depends on data; give a tensor whose shape is known"):
            function(numbers(9))


def test_operations_without_a_gradient():
    x = numbers(3, 4).requires_grad_()
    for result, reason in [
        (operators.map("x * x", x), "tmajit.map has no gradient"),
        (operators.max(x), 'tmajit.reduce with "max" has no gradient; it has one with "sum" or "mean"'),
        (operators.reduce(x, "sum", expression="x * x"), "with an expression has no gradient"),
        (operators.cumprod(x), 'tmajit.scan with "product" has no gradient; it has one with "sum"'),
    ]:
        with pytest.raises(RuntimeError, match=reason):
            result.sum().backward()
    assert not operators.argmax(x).requires_grad
    with pytest.raises(RuntimeError, match="out=... arguments don't support automatic differentiation"):
        operators.permute(x, (1, 0), out=torch.zeros(4, 3))


def test_out_has_a_new_version():
    x, out = numbers(3, 4), torch.ones(4, 3, requires_grad=True)
    product = out * out
    operators.permute(x, (1, 0), out=out.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_types_and_errors_are_those_of_the_direct_path():
    x = numbers(3, 4)
    for kind in ("bfloat16", torch.bfloat16, np.dtype("float16")):
        assert operators.cast(x, kind).dtype == tmajit.cast(x, kind).dtype
    with pytest.raises(TypeError, match="PyTorch has no element type 'tf32'"):
        operators.cast(x, "tf32")
    with pytest.raises(tmajit.ArgumentError, match="did you mean sum"):
        operators.reduce(x, "summ")
    with pytest.raises(tmajit.ArgumentError, match="needs out"):
        operators.map("1.0f", out=None)


def test_operators_run_on_the_current_stream_and_in_graphs():
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    x = torch.rand(256, 512, device="cuda", requires_grad=True)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        operators.sum(operators.permute(x, (1, 0)), 1).sum().backward()
        x.grad = None
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = operators.sum(operators.permute(x, (1, 0)), 1)
        y.sum().backward()
    with torch.no_grad():
        x.copy_(torch.rand_like(x))
    graph.replay()
    torch.cuda.synchronize()
    assert torch.allclose(y, x.sum(0), rtol=1e-4)
    assert (x.grad == 1).all()
