// A grid that begins before the one it depends on has ended.  PTX ISA, "griddepcontrol".  PTX 7.8, sm_90.
//@ # Both functions do nothing where the launch did not ask for programmatic dependent launch.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit::ptx {

// griddepcontrol.launch_dependents: the grids that depend on this one may begin once every CTA has called this or exited.
__device__ __forceinline__ void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// griddepcontrol.wait: waits until the grids that this one depends on are complete and their writes visible.
__device__ __forceinline__ void wait_for_prerequisites() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace tmajit::ptx
