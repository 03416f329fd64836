#include "ptx/forms.hpp"

TMAJIT_BEGIN
namespace ptx {

// PTX ISA 9.7.14 and 9.7.15: matrix fragments, mma and the asynchronous warpgroup mma of sm_90a.
llvm::ArrayRef<FormRow> matrix_forms() noexcept {
  static constexpr FormRow rows[] = {
      {Opcode::ldmatrix, "ldmatrix.sync.aligned", "m8n8|m16n16 x1|x2|x4 trans? SHARED_CTA? b16|b8", "D m"},
      {Opcode::stmatrix, "stmatrix.sync.aligned", "m8n8|m16n8 x1|x2|x4 trans? SHARED_CTA? b16|b8", "m S"},
      {Opcode::movmatrix, "movmatrix.sync.aligned", "m8n8 trans b16", "d s"},
      {Opcode::mma, "mma.sync.aligned",
       "SHAPE row|col row|col satfinite? f16|f32|f64|s32 f16|bf16|tf32|f64|u8|s8|u4|s4|b1|e4m3|e5m2 "
       "f16|bf16|tf32|f64|u8|s8|u4|s4|b1|e4m3|e5m2 f16|f32|f64|s32 RND? xor|and? popc?",
       "D S S S"},
      {Opcode::mma, "mma.sp",
       "ordered_metadata? sync aligned SHAPE row col satfinite? f16|f32|s32 "
       "f16|bf16|tf32|u8|s8|u4|s4|e4m3|e5m2 f16|bf16|tf32|u8|s8|u4|s4|e4m3|e5m2 f16|f32|s32",
       "D S S S s k"},
      {Opcode::mma, "mma.sp::ordered_metadata.sync.aligned",
       "SHAPE row col satfinite? f16|f32|s32 "
       "f16|bf16|tf32|u8|s8|u4|s4|e4m3|e5m2 f16|bf16|tf32|u8|s8|u4|s4|e4m3|e5m2 f16|f32|s32",
       "D S S S s k"},
      {Opcode::wmma, "wmma.load",
       "a|b|c sync aligned row|col SHAPE SS? f16|bf16|tf32|f32|f64|u8|s8|u4|s4|b1|s32", "v m s?"},
      {Opcode::wmma, "wmma.store", "d sync aligned row|col SHAPE SS? f16|f32|f64|s32", "m v s?"},
      {Opcode::wmma, "wmma.mma",
       "sync aligned row|col row|col SHAPE RND? f16|f32|f64|s32 f16|bf16|tf32|f64|u8|s8|u4|s4? "
       "f16|bf16|tf32|f64|u8|s8|u4|s4? f16|f32|f64|s32 satfinite?",
       "v v v v"},
      {Opcode::wmma, "wmma.mma", "xor|and popc sync aligned row col SHAPE s32 b1 b1 s32", "v v v v"},
      {Opcode::wgmma_mma_async, "wgmma.mma_async.sync.aligned", "SHAPE f16|f32 f16|bf16 f16|bf16",
       "v S s p k k k k?"},
      {Opcode::wgmma_mma_async, "wgmma.mma_async.sync.aligned", "SHAPE f32 tf32 tf32", "v S s p k k"},
      {Opcode::wgmma_mma_async, "wgmma.mma_async.sync.aligned", "SHAPE f16|f32 e4m3|e5m2 e4m3|e5m2",
       "v S s p k k"},
      {Opcode::wgmma_mma_async, "wgmma.mma_async.sync.aligned", "SHAPE satfinite? s32 u8|s8 u8|s8 satfinite?",
       "v S s p"},
      {Opcode::wgmma_mma_async, "wgmma.mma_async.sync.aligned", "SHAPE s32 b1 b1 and popc", "v S s p"},
      {Opcode::wgmma_mma_async, "wgmma.mma_async.sp.sync.aligned", "SHAPE f16|f32 f16|bf16 f16|bf16",
       "v S s s k p k k k k?"},
      {Opcode::wgmma_mma_async, "wgmma.mma_async.sp.sync.aligned",
       "SHAPE f16|f32 tf32|e4m3|e5m2 tf32|e4m3|e5m2", "v S s s k p k k"},
      {Opcode::wgmma_mma_async, "wgmma.mma_async.sp.sync.aligned",
       "SHAPE satfinite? s32 u8|s8 u8|s8 satfinite?", "v S s s k p"},
      {Opcode::wgmma_fence, "wgmma.fence.sync.aligned", "", ""},
      {Opcode::wgmma_commit_group, "wgmma.commit_group.sync.aligned", "", ""},
      {Opcode::wgmma_wait_group, "wgmma.wait_group.sync.aligned", "", "k"},
  };
  return rows;
}

}  // namespace ptx
TMAJIT_END
