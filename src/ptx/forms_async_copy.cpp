#include "ptx/forms.hpp"

TMAJIT_BEGIN
namespace ptx {

// PTX ISA 9.7.9.25 to 9.7.9.28: cp.async, bulk and tensor copies, tensor maps.
llvm::ArrayRef<FormRow> async_copy_forms() noexcept {
  static constexpr FormRow rows[] = {
      {Opcode::cp_async, "cp.async", "ca|cg SHARED_CTA global HINT? FETCH?", "m m k p? s?"},
      {Opcode::cp_async_commit_group, "cp.async.commit_group", "", ""},
      {Opcode::cp_async_wait_group, "cp.async.wait_group", "", "k"},
      {Opcode::cp_async_wait_all, "cp.async.wait_all", "", ""},
      {Opcode::cp_async_mbarrier_arrive, "cp.async.mbarrier.arrive", "noinc? SHARED_CTA? b64", "m"},

      {Opcode::cp_async_bulk, "cp.async.bulk", "shared::cta global BYTES HINT?", "m m s m s?"},
      {Opcode::cp_async_bulk, "cp.async.bulk", "shared::cluster global BYTES multicast::cluster? HINT?",
       "m m s m s? s?"},
      {Opcode::cp_async_bulk, "cp.async.bulk", "shared::cluster shared::cta BYTES", "m m s m"},
      {Opcode::cp_async_bulk, "cp.async.bulk", "global shared::cta bulk_group HINT? cp_mask?", "m m s s? s?"},
      {Opcode::cp_reduce_async_bulk, "cp.reduce.async.bulk",
       "shared::cluster shared::cta BYTES REDOP b32|u32|s32|b64|u64", "m m s m"},
      {Opcode::cp_reduce_async_bulk, "cp.reduce.async.bulk",
       "global shared::cta bulk_group HINT? REDOP noftz? f16|bf16|BIT2|WIDE|f32|f64", "m m s s?"},
      {Opcode::cp_async_bulk_prefetch, "cp.async.bulk.prefetch.L2", "global HINT?", "m s s?"},

      {Opcode::cp_async_bulk_tensor_load, "cp.async.bulk.tensor",
       "DIM shared::cta|shared::cluster global tile|im2col? BYTES multicast::cluster? HINT?",
       "m t m v? s? s?"},
      {Opcode::cp_async_bulk_tensor_store, "cp.async.bulk.tensor",
       "DIM global shared::cta tile|im2col_no_offs? bulk_group HINT?", "t m s?"},
      {Opcode::cp_reduce_async_bulk_tensor, "cp.reduce.async.bulk.tensor",
       "DIM global shared::cta REDOP tile|im2col_no_offs? bulk_group HINT?", "t m s?"},
      {Opcode::cp_async_bulk_prefetch_tensor, "cp.async.bulk.prefetch.tensor",
       "DIM L2 global tile|im2col? HINT?", "t v? s?"},
      {Opcode::cp_async_bulk_commit_group, "cp.async.bulk.commit_group", "", ""},
      {Opcode::cp_async_bulk_wait_group, "cp.async.bulk.wait_group", "read?", "k"},

      {Opcode::tensormap_replace, "tensormap.replace.tile",
       "global_address|rank|elemtype|interleave_layout|swizzle_mode|fill_mode global|SHARED_CTA? b1024 BIT2",
       "m s"},
      {Opcode::tensormap_replace, "tensormap.replace.tile",
       "box_dim|global_dim|global_stride|element_stride global|SHARED_CTA? b1024 BIT2", "m k s"},
      {Opcode::tensormap_cp_fenceproxy, "tensormap.cp_fenceproxy",
       "global shared::cta tensormap::generic release SCOPE sync aligned", "m m k"},
  };
  return rows;
}

}  // namespace ptx
TMAJIT_END
