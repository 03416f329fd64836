"""The functions of tmajit.jax. Skipped without JAX."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import tmajit
from operation_cases import CASES, LINEAR, as_list, numbers
from tmajit import _core
from tmajit._adjoints import RECIPES

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import tmajit.jax as functions  # noqa: E402


@pytest.fixture(params=["cpu", "gpu"], autouse=True)
def device(request):
    try:
        (place, *_) = jax.devices(request.param)
    except RuntimeError:
        pytest.skip("JAX sees no GPU")
    with jax.default_device(place):
        yield request.param


def arrays(case):
    return [jnp.asarray(x) for x in as_list(case.sources)]


def function_of(case, **named):
    """The call of a case as a function of its sources."""
    return lambda *given: case.call_on(functions, list(given) if case.many else given[0], **named)


def assert_equal(found, wanted):
    for ours, theirs in zip(as_list(found), as_list(wanted), strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype == jax.dtypes.canonicalize_dtype(theirs.dtype)
        assert (np.asarray(ours) == np.asarray(theirs)).all()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_functions_equal_those_of_numpy(case):
    wanted = case.call(tmajit, lambda x: x)
    assert_equal(function_of(case)(*arrays(case)), wanted)
    assert_equal(jax.jit(function_of(case))(*arrays(case)), wanted)


@pytest.mark.parametrize("case", LINEAR, ids=str)
def test_gradients(case):
    named = {"dtype": np.float32} if "dtype" in case.arguments else {}
    order = 1 if case.name == "convolution" else 2
    # Differences of a linear function are exact for wide steps.
    check_grads(function_of(case, **named), arrays(case), order, eps=0.5, atol=1e-2, rtol=1e-3)


@pytest.mark.parametrize("case", [case for case in CASES if case.name in RECIPES], ids=str)
def test_gradients_of_recipes(case):
    sources = [x / 8 if x.dtype == jnp.float32 else x for x in arrays(case)]
    varies = [i for i, x in enumerate(sources) if x.dtype == jnp.float32]

    def function(*given):
        replaced = dict(zip(varies, given, strict=True))
        return function_of(case)(*(replaced.get(i, x) for i, x in enumerate(sources)))

    check_grads(function, [sources[i] for i in varies], 1, modes=["rev"], eps=1e-2, atol=2e-2, rtol=2e-2)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_batches(case):
    function, sources = function_of(case), arrays(case)
    given = [jnp.stack([x, 2 * x, x + 1]) for x in sources]
    wanted = [as_list(function(*(x[i] for x in given))) for i in range(3)]
    for found, parts in zip(as_list(jax.vmap(function)(*given)), zip(*wanted, strict=True), strict=True):
        assert (found == jnp.stack(parts)).all()
    if len(sources) == 2:
        found = jax.vmap(function, (None, -1))(sources[0], jnp.moveaxis(given[1], 0, -1))
        wanted = [as_list(function(sources[0], given[1][i])) for i in range(3)]
        for one, parts in zip(as_list(found), zip(*wanted, strict=True), strict=True):
            assert (one == jnp.stack(parts)).all()


def test_gradients_of_a_compiled_function():
    @jax.jit
    def loss(x, filters):
        y = functions.convolution(x, filters, padding=(1, 1))
        y = functions.mean(y.reshape(2, 5, 4, 3), (1, 2))
        return (functions.permute(y, (1, 0)) ** 2).sum()

    def reference(x, filters):
        y = jax.lax.conv_general_dilated(
            x, filters, (1, 1), ((1, 1), (1, 1)), dimension_numbers=("NHWC", "OHWI", "NHWC")
        )
        return (y.mean((1, 2)) ** 2).sum()

    x, filters = jnp.asarray(numbers(2, 5, 4, 2)), jnp.asarray(numbers(3, 3, 3, 2))
    with jax.default_matmul_precision("highest"):
        wanted = jax.grad(reference, (0, 1))(x, filters)
    for ours, theirs in zip(jax.grad(loss, (0, 1))(x, filters), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-3)


def test_batches_whose_rank_is_too_large():
    x = jnp.asarray(numbers(3, 2, *[1] * 6, 2))
    assert (jax.vmap(lambda x: functions.flip(x, 0))(x) == x[:, ::-1]).all()


def test_coordinates_in_batches_are_those_of_one_call():
    x = jnp.asarray(numbers(3, 4))
    assert (jax.vmap(lambda x: functions.map("x + g[0]", x))(x) == x + jnp.arange(4)).all()


def test_out():
    x = jnp.asarray(numbers(3, 4))
    doubled = functions.reduce_into(x, "add", x)
    assert (doubled == 2 * x).all()
    assert (x == numbers(3, 4)).all()
    found = functions.map("g[0]", out=jax.ShapeDtypeStruct((3,), jnp.float32))
    assert found.tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="arrays of JAX are never written"):
        functions.copy(x, out=x)
    with pytest.raises(tmajit.ArgumentError, match="needs out"):
        functions.map("1.0f")


def test_types():
    x = jnp.asarray(numbers(3, 4))
    assert functions.cast(x, "bfloat16").dtype == jnp.bfloat16
    assert functions.argmax(x, 1).tolist() == jnp.argmax(x, 1).tolist()
    assert (functions.permute(x > 0, (1, 0)) == (x > 0).T).all()
    assert (functions.permute(x.astype(jnp.complex64), (1, 0)) == x.T).all()
    with jax.enable_x64(True):
        assert functions.argmax(x, 1).dtype == jnp.int64
    with pytest.raises(TypeError, match="JAX has no element type 'tf32'"):
        functions.cast(x, "tf32")


def test_scalars_and_infinite_values():
    x = jnp.float32(3)
    for made in (
        functions.permute(x, ()),
        functions.flip(x, ()),
        functions.slice(x, ()),
        functions.pad(x, ()),
    ):
        assert made.shape == () and made == 3
    found = functions.pad(jnp.zeros(1), ((1, 1),), value=-np.inf)
    assert found.tolist() == [-np.inf, 0, -np.inf]


def test_errors():
    x = jnp.asarray(numbers(3, 4))
    with pytest.raises(tmajit.ArgumentError, match="did you mean sum"):
        functions.reduce(x, "summ")
    with pytest.raises(tmajit.ArgumentError, match="axes"):
        jax.jit(lambda x: functions.permute(x, (0, 2)))(x)
    with pytest.raises(Exception, match="expected an expression"):
        jax.block_until_ready(functions.map("x +", x))
    for function, reason in [
        (lambda x: functions.map("x * x", x), "tmajit.map has no gradient"),
        (functions.max, 'tmajit.reduce with "max" has no gradient'),
        (lambda x: functions.stencil("x(1)", x), "tmajit.stencil has no gradient"),
    ]:
        with pytest.raises(NotImplementedError, match=reason):
            jax.grad(lambda x, function=function: function(x).sum())(x)
    assert (jax.grad(lambda x: x.sum() + functions.argmax(x))(x) == 1).all()


def test_a_chain_of_operations_runs_in_order(device):
    @jax.jit
    def chain(x):
        for n in range(8):
            x = functions.permute(x % 7, (1, 0)) + n
            x = functions.cumsum(functions.pad(x, ((1, -1), (0, 0))), 0, dtype=jnp.int32)
        return x

    def reference(x):
        for n in range(8):
            x = np.cumsum(np.pad((x % 7).T[:-1] + n, ((1, 0), (0, 0))), 0, dtype=np.int32)
        return x

    extent = 16 if device == "cpu" else 1024
    x = np.random.default_rng(1).integers(0, 100, (extent, extent), dtype=np.int32)
    wanted = reference(x)
    for _ in range(3):
        assert (chain(jnp.asarray(x)) == wanted).all()


def test_the_declared_interface_is_that_of_xla(tmp_path, device):
    compiler = shutil.which("c++")
    if compiler is None or device == "gpu":
        pytest.skip("needs a C++ compiler; runs once, with the CPU")
    structs = {
        "Extension": ("XLA_FFI_Metadata_Extension::extension_base", "struct_size type next"),
        "ApiVersion": (
            "XLA_FFI_Api_Version",
            "struct_size extension=extension_start major=major_version minor=minor_version",
        ),
        "ErrorCreate": ("XLA_FFI_Error_Create_Args", "struct_size message code=errc"),
        "ErrorDestroy": ("XLA_FFI_Error_Destroy_Args", "struct_size error"),
        "StreamGet": ("XLA_FFI_Stream_Get_Args", "struct_size context=ctx stream"),
        "DeviceOrdinalGet": (
            "XLA_FFI_DeviceOrdinal_Get_Args",
            "struct_size context=ctx ordinal=device_ordinal",
        ),
        "Buffer": ("XLA_FFI_Buffer", "struct_size type=dtype data rank shape=dims"),
        "Text": ("XLA_FFI_ByteSpan", "bytes=ptr size=len"),
        "Buffers": ("XLA_FFI_Args", "struct_size size types buffers=args"),
        "Attributes": ("XLA_FFI_Attrs", "struct_size size types names values=attrs"),
        "Metadata": ("XLA_FFI_Metadata", "struct_size version=api_version traits state_type=state_type_id"),
        "MetadataExtension": ("XLA_FFI_Metadata_Extension", "base=extension_base metadata"),
        "CallFrame": (
            "XLA_FFI_CallFrame",
            "struct_size api context=ctx stage sources=args results=rets attributes=attrs",
        ),
        "Api": (
            "XLA_FFI_Api",
            "struct_size version=api_version error_create=XLA_FFI_Error_Create "
            "error_destroy=XLA_FFI_Error_Destroy stream_get=XLA_FFI_Stream_Get "
            "device_ordinal_get=XLA_FFI_DeviceOrdinal_Get",
        ),
    }
    values = {
        "pred": "DataType_PRED",
        "s64": "DataType_S64",
        "u64": "DataType_U64",
        "f16": "DataType_F16",
        "f64": "DataType_F64",
        "c64": "DataType_C64",
        "bf16": "DataType_BF16",
        "f8e5m2": "DataType_F8E5M2",
        "f8e4m3fn": "DataType_F8E4M3FN",
        "invalid_argument": "Error_Code_INVALID_ARGUMENT",
        "internal": "Error_Code_INTERNAL",
        "string": "AttrType_STRING",
        "api_major": "API_MAJOR",
    }
    source = pathlib.Path(__file__).resolve().parents[2] / "python/src/xla_ffi.hpp"
    lines = ["#include <cstddef>", "#include <xla/ffi/api/c_api.h>", f'#include "{source}"']
    lines.append("using namespace tmajit::python;")
    for ours, (theirs, fields) in structs.items():
        theirs = f"decltype({theirs})" if "::" in theirs else theirs
        for field in fields.split():
            mine, _, other = field.partition("=")
            lines.append(
                f"static_assert(offsetof(xla::{ours}, {mine}) == offsetof({theirs}, {other or mine}));"
            )
    lines += [f"static_assert(int(xla::{ours}) == int(XLA_FFI_{theirs}));" for ours, theirs in values.items()]
    (tmp_path / "abi.cpp").write_text("\n".join(lines) + "\n")
    command = [compiler, "-std=c++20", "-fsyntax-only", "-I", jax.ffi.include_dir(), tmp_path / "abi.cpp"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_operation_is_a_function():
    for described in _core.operations():
        assert getattr(functions, described["name"]).__doc__ == getattr(tmajit, described["name"]).__doc__
