"""Programs of NVIDIA's cuda-samples, which use more of CUDA's runtime than launches: pinned and mapped memory, streams, graphs,
occupancy and cooperative launches."""

from __future__ import annotations

import pathlib

from case import Case, Program, Tools
from programs import make_program


def _make(name: str):
    def make(tools: Tools, folder: pathlib.Path) -> pathlib.Path:
        samples = tools.site / "cuda-samples"
        file = samples / "Samples/0_Introduction" / name / f"{name}.cu"
        return make_program(tools, folder, file, [samples / "Common", *tools.headers])

    return make


def cases() -> list[Case]:
    programs = {
        "vectorAdd": Program("Test PASSED", (("", 1),)),
        "simpleZeroCopy": Program("Releasing CPU memory", (("", 1),)),
        "simpleOccupancy": Program("Test PASSED", (("", 1),)),
        "simpleCooperativeGroups": Program("is 120 (expected 120)", (("", 4),)),
        "simpleTemplates": Program("Test Results: 0 Failures", (("", 1),)),
    }
    return [Case(f"samples.{name}", "samples", _make(name), program=program) for name, program in programs.items()]
