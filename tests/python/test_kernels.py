"""Kernels of the caller's own, and checks of kernels."""

from __future__ import annotations

from importlib.metadata import entry_points

import numpy as np
import pytest

import tmajit

pytest_plugins = ["pytester"]

SCALE = """
extern "C" __global__ void scale(float* y, const float* x, int n, float f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * f * factor;
}
"""

TILED = """
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_tensor.cuh"

using namespace tmajit;

__global__ void __launch_bounds__(32) first_tile(const __grid_constant__ TensorMap x, float* y) {
  __shared__ alignas(128) float tile[32 * 32];
  __shared__ u64 word;
  const auto full = Barrier<>(ptx::shared_address(&word)).init(1, threadIdx.x == 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    full.expect(sizeof tile);
    ptx::tensor_load(ptx::shared_address(tile), x, Coordinates<2>{0, 0}, full.address());
  }
  full.wait(0);
  for (u32 i = threadIdx.x; i < 32 * 32; i += 32) y[i] = tile[i];
}
"""


def arrays(n=10):
    return np.zeros(n, np.float32), np.arange(n, dtype=np.float32)


def test_a_kernel_runs():
    kernel = tmajit.kernel(SCALE, constants={"factor": 2.0})
    y, x = arrays()
    kernel(y, x, 10, 3.0, grid=1, block=32)
    assert (y == 6 * x).all()
    kernel(y, x, np.int32(10), np.float32(1.0), grid=(2, 1), block=(8, 1, 1))
    assert (y == 2 * x).all()
    assert kernel.entry == "scale"
    assert len(kernel.parameters) == 4
    assert "scale(" in repr(kernel)


def test_wrong_arguments_of_a_kernel():
    kernel = tmajit.kernel(SCALE, constants={"factor": 2.0})
    y, x = arrays()
    with pytest.raises(tmajit.ArgumentError, match="takes 4 arguments; found 3"):
        kernel(y, x, 10)
    with pytest.raises(TypeError, match="argument 2 .* takes a whole number"):
        kernel(y, x, 1.5, 2.0)
    with pytest.raises(TypeError, match="fits its bytes"):
        kernel(y, x, 1 << 40, 2.0)
    with pytest.raises(TypeError, match="no array"):
        kernel(y, x, x, 2.0)
    with pytest.raises(tmajit.ArgumentError, match="grid takes"):
        kernel(y, x, 1, 2.0, grid=0)


def test_a_kernel_that_does_not_compile():
    with pytest.raises(tmajit.CompileError, match="factor") as caught:
        tmajit.kernel(SCALE)
    assert "factor" in caught.value.log


def test_errors_of_tuning():
    y, x = arrays()

    def launch(run, threads):
        run(y, x, 10, 2.0, grid=1, block=threads)

    choices = {"threads": [32, 64]}
    with pytest.raises(tmajit.Error, match="on a GPU") as caught:
        tmajit.tune_kernel(SCALE, launch, choices, constants={"factor": 2.0})
    assert caught.value.code == "unavailable"
    with pytest.raises(tmajit.CompileError, match="factor"):
        tmajit.tune_kernel(SCALE, launch, choices)
    with pytest.raises(tmajit.ArgumentError, match="takes 4 arguments; found 2"):
        tmajit.tune_kernel(SCALE, lambda run, factor: run(y, x), {"factor": [1.0]})
    with pytest.raises(TypeError, match="argument 2 .* takes a whole number"):
        tmajit.tune_kernel(SCALE, lambda run, factor: run(y, x, 1.5, 2.0), {"factor": [1.0]})
    with pytest.raises(tmajit.ArgumentError, match="did not call run"):
        tmajit.tune_kernel(SCALE, lambda run, factor: None, {"factor": [1.0]})
    with pytest.raises(tmajit.ArgumentError, match="no values"):
        tmajit.tune_kernel(SCALE, launch, {"factor": []})
    with pytest.raises(ValueError, match="more than once"):
        tmajit.tune_kernel(
            SCALE, lambda run, factor: [run(y, x, 10, 2.0) for _ in range(2)], {"factor": [1.0]}
        )


@pytest.mark.tmajit_findings
def test_a_mistake_is_found_with_its_line():
    kernel = tmajit.kernel(SCALE, constants={"factor": 2.0}, file="scale.cu")
    y, x = arrays()
    assert tmajit.check(kernel, y, x, 10, 3.0, grid=1, block=32)
    report = tmajit.check(kernel, y, x, 12, 3.0, grid=1, block=32)
    assert not report
    (finding,) = report
    assert finding.rule == "global.out-of-bounds"
    assert finding.found_by == "simulator"
    assert finding.file.endswith("scale.cu")
    assert finding.line == 4
    assert finding.thread == (10, 0, 0)
    assert finding.remedy
    assert "<table>" in report._repr_html_()
    with pytest.raises(AssertionError, match="scale.cu:4"):
        report.raise_findings()


def test_a_launch_with_a_mistake_raises():
    kernel = tmajit.kernel(SCALE, constants={"factor": 2.0})
    y, x = arrays()
    with pytest.raises(tmajit.Error, match="global.out-of-bounds") as caught:
        kernel(y, x, 12, 3.0, grid=1, block=32)
    assert caught.value.code == "device_failed"
    kernel(y, x, 10, 3.0, grid=1, block=32)  # the device still works
    assert (y == 6 * x).all()


def test_the_lint_reads_any_ptx():
    y, x = arrays()
    ptx = tmajit.kernel(SCALE, constants={"factor": 2.0}).ptx
    assert tmajit.check(ptx).kernels == ["scale"]
    assert tmajit.check(ptx.encode(), y, x, 10, 1.0, entry="scale", grid=1, block=16)

    class Triton:
        asm = {"ptx": ptx}

    class Numba:
        def inspect_asm(self):
            return {("float32",): ptx}

    class Cute:
        __ptx__ = ptx

    for made in (Triton(), Numba(), Cute()):
        assert tmajit.ptx_of(made) == ptx
    with pytest.raises(TypeError, match="holds no PTX"):
        tmajit.check(3)


@pytest.mark.tmajit_findings
def test_text_that_is_no_ptx():
    report = tmajit.check("no ptx")
    assert not report
    assert report.findings[0].found_by == "lint"


def test_kernels_of_plans_have_no_findings():
    x = np.zeros((64, 64), np.float32)
    assert tmajit.check(tmajit.plan("permute", x, axes=(1, 0)))


def test_a_report_has_the_output_of_printf():
    kernel = tmajit.kernel(
        'extern "C" int printf(const char*, ...);\n__global__ void say(int* x) { printf("%d\\n", x[0]); }'
    )
    assert tmajit.check(kernel, np.full(1, 7, np.int32), grid=1).printed == "7\n"


def test_tensor_maps():
    x = np.zeros((64, 64), np.float32)
    assert repr(tmajit.TensorMap(x, (32, 32), swizzle="128B")) == (
        "<tmajit.TensorMap of f32 64x64, box 32x32, swizzle 128B>"
    )
    with pytest.raises(tmajit.SpecError) as caught:
        tmajit.TensorMap(np.zeros((64, 63), np.float32), (32, 32))
    assert caught.value.rule == "strides.multiple"
    assert "64 elements" in caught.value.legal


def test_tensor_maps_of_images():
    images = np.zeros((2, 9, 8, 64), np.float16)
    made = tmajit.TensorMap.im2col(images, 64, 32, (-1, -1), (-1, -1), swizzle="128B")
    assert repr(made) == "<tmajit.TensorMap of f16 2x9x8x64, 64 channels of 32 pixels, swizzle 128B>"
    with pytest.raises(tmajit.SpecError):
        tmajit.TensorMap.im2col(images, 512, 32)
    with pytest.raises(tmajit.ArgumentError, match="lower needs 2 numbers; found 3"):
        tmajit.TensorMap.im2col(images, 64, 32, (0, 0, 0))


def test_interleaved_tensor_maps():
    slices = np.zeros((2, 4, 9, 8, 8), np.float16)  # images, slices, height, width, 8 channels of 16 bytes
    made = tmajit.TensorMap(slices, (1, 1, 4, 8), interleave="16B")
    assert repr(made) == "<tmajit.TensorMap of f16 2x4x9x8, box 1x1x4x8, swizzle none>"
    with pytest.raises(tmajit.ArgumentError, match="dense slice of channels, 32 bytes"):
        tmajit.TensorMap(slices, (1, 1, 4, 8), interleave="32B")
    with pytest.raises(tmajit.SpecError) as caught:
        tmajit.TensorMap(np.zeros((8, 64), np.float32)[::-1], (8, 32))
    assert caught.value.rule == "view.negative-stride"


PIXELS = """
#include "tmajit/barrier.cuh"
#include "tmajit/im2col.cuh"
using namespace tmajit;
extern "C" __global__ void pixels(const __grid_constant__ TensorMap map, float* out) {
  __shared__ alignas(128) float tile[8 * 4];
  __shared__ u64 word;
  const auto full = Barrier<>(ptx::shared_address(&word)).init(1, threadIdx.x == 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    full.expect(sizeof(tile));
    const Coordinates<4> first{0, 0, 0, 0};
    ptx::im2col_load(ptx::shared_address(tile), map, first, TapOffsets<2>{1, 0}, full.address());
  }
  full.wait(0);
  out[threadIdx.x] = tile[threadIdx.x];
}
"""


def test_a_kernel_that_loads_pixels():
    images = np.arange(2 * 3 * 4 * 4, dtype=np.float32).reshape(2, 3, 4, 4)
    out = np.zeros((8, 4), np.float32)
    kernel = tmajit.kernel(PIXELS)
    # The pixels of two rows, each shifted by a tap of one pixel; outside of the image they are zero.
    kernel(tmajit.TensorMap.im2col(images, 4, 8), out, grid=1, block=32)
    wanted = np.pad(images[0], ((0, 0), (0, 1), (0, 0)))[:2, 1:]
    assert (out == wanted.reshape(8, 4)).all()


@pytest.mark.tmajit_findings
def test_a_kernel_with_a_tensor_map():
    x = np.arange(32 * 32, dtype=np.float32).reshape(32, 32)
    y = np.zeros_like(x)
    kernel = tmajit.kernel(TILED)
    kernel(tmajit.TensorMap(x, (32, 32)), y, grid=1, block=32)
    assert (y == x).all()
    assert tmajit.check(kernel, tmajit.TensorMap(x, (32, 32)), y, grid=1, block=32)
    # Without the wait the tile is read while the copy is in flight.
    early = tmajit.kernel(TILED.replace("full.wait(0);", "__syncwarp();"), file="early.cu")
    rules = {one.rule for one in tmajit.check(early, tmajit.TensorMap(x, (32, 32)), y, grid=1, block=32)}
    assert rules


def test_rules():
    assert any(rule["rule"] == "global.out-of-bounds" for rule in tmajit.rules())


def test_the_plugin_fails_a_test_on_a_finding(pytester):
    pytester.makepyfile(
        """
        import pytest
        import tmajit

        def test_broken():
            tmajit.check("no ptx")

        @pytest.mark.tmajit_findings
        def test_expected():
            assert not tmajit.check("no ptx")
        """
    )
    installed = bool(entry_points(group="pytest11", name="tmajit"))
    result = pytester.runpytest(*([] if installed else ["-p", "tmajit.pytest_plugin"]))
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*tmajit.check():*"])
