#include "ptx/forms.hpp"

#include "ptx/texts.hpp"

#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit::ptx;

namespace {

struct Sample {
  Opcode opcode;
  const char* text;
};

}  // namespace

TEST_CASE("instructions of every chapter of the PTX ISA are parsed with their opcodes") {
  const Sample samples[] = {
      // 9.7.1, 9.7.2: integers
      {Opcode::add, "add.sat.s32 d, a, b;"},
      {Opcode::add, "add.cc.u64 d, a, b;"},
      {Opcode::addc, "addc.cc.u32 d, a, 0;"},
      {Opcode::mul, "mul.wide.u32 d, a, 12;"},
      {Opcode::mad, "mad.hi.sat.s32 d, a, b, c;"},
      {Opcode::mad, "mad.lo.cc.u32 d, a, b, c;"},
      {Opcode::madc, "madc.hi.u32 d, a, b, c;"},
      {Opcode::div, "div.s64 d, a, b;"},
      {Opcode::popc, "popc.b64 d, a;"},
      {Opcode::bfind, "bfind.shiftamt.u32 d, a;"},
      {Opcode::bfe, "bfe.u32 d, a, 3, 8;"},
      {Opcode::bfi, "bfi.b64 f, a, b, c, d;"},
      {Opcode::dp4a, "dp4a.u32.s32 d, a, b, c;"},
      {Opcode::max, "max.s16x2.relu d, a, b;"},
      // 9.7.3 to 9.7.5: floating point
      {Opcode::add, "add.rz.ftz.sat.f32 d, a, 0f3F800000;"},
      {Opcode::add, "add.rn.bf16x2 d, a, b;"},
      {Opcode::fma, "fma.rn.relu.f16x2 d, a, b, c;"},
      {Opcode::fma, "fma.rn.oob.relu.bf16x2 d, a, b, c;"},
      {Opcode::div, "div.full.ftz.f32 d, a, b;"},
      {Opcode::min, "min.ftz.NaN.xorsign.abs.f16 d, a, b;"},
      {Opcode::rcp, "rcp.approx.ftz.f64 d, a;"},
      {Opcode::ex2, "ex2.approx.ftz.bf16x2 d, a;"},
      {Opcode::tanh, "tanh.approx.f16x2 d, a;"},
      {Opcode::copysign, "copysign.f64 d, a, b;"},
      {Opcode::testp, "testp.notanumber.f32 p, a;"},
      // 9.7.6 to 9.7.8: comparison, selection, logic
      {Opcode::setp, "setp.ltu.and.ftz.f32 p|q, a, b, !c;"},
      {Opcode::set, "set.eq.f16x2.f16x2 d, a, b;"},
      {Opcode::selp, "selp.b16 d, a, b, p;"},
      {Opcode::slct, "slct.ftz.u64.f32 d, a, b, c;"},
      {Opcode::and_, "and.pred p, q, r;"},
      {Opcode::lop3, "lop3.b32 d, a, b, c, 0x96;"},
      {Opcode::lop3, "lop3.or.b32 d|p, a, b, c, 0x3f, q;"},
      {Opcode::shf, "shf.l.wrap.b32 d, a, b, c;"},
      // 9.7.9: data movement
      {Opcode::mov, "mov.b64 {a, _}, d;"},
      {Opcode::mov, "mov.b128 d, {a, b};"},
      {Opcode::prmt, "prmt.b32.f4e d, a, b, c;"},
      {Opcode::shfl, "shfl.sync.idx.b32 d|p, a, b, 31, -1;"},
      {Opcode::cvt, "cvt.rni.sat.u8.f32 d, a;"},
      {Opcode::cvt, "cvt.rn.satfinite.relu.e5m2x2.f32 d, a, b;"},
      {Opcode::cvt, "cvt.rn.f16x2.e4m3x2 d, a;"},
      {Opcode::cvt, "cvt.rz.bf16x2.f32 d, a, b;"},
      {Opcode::cvt, "cvt.rna.satfinite.tf32.f32 d, a;"},
      {Opcode::cvt, "cvt.f32.bf16 d, a;"},
      {Opcode::cvt_pack, "cvt.pack.sat.u8.s32.b32 d, a, b, c;"},
      {Opcode::cvt_pack, "cvt.pack.sat.s16.s32 d, a, b;"},
      {Opcode::ld, "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v4.f32 {a, b, c, d}, [p], q;"},
      {Opcode::ld, "ld.acquire.gpu.global.u32 d, [a];"},
      {Opcode::ld, "ld.param.v2.b8 {a, b}, [p+2];"},
      {Opcode::st, "st.release.cluster.shared::cluster.b32 [a], 0;"},
      {Opcode::st, "st.global.cg.v2.f64 [a], {b, c};"},
      {Opcode::st_async,
       "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [a], {b, c, d, e}, [m];"},
      {Opcode::prefetch, "prefetch.global.L2 [a];"},
      {Opcode::prefetch_tensormap, "prefetch.tensormap [a];"},
      {Opcode::createpolicy_fractional,
       "createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 d, 0.5;"},
      {Opcode::createpolicy_range, "createpolicy.range.global.L2::evict_last.b64 d, [a], 64, 128;"},
      {Opcode::isspacep, "isspacep.shared::cluster p, a;"},
      {Opcode::cvta, "cvta.shared.u64 d, a;"},
      {Opcode::cvta_to, "cvta.to.global.u64 d, a;"},
      {Opcode::mapa, "mapa.shared::cluster.u32 d, a, 1;"},
      {Opcode::getctarank, "getctarank.u64 d, a;"},
      // 9.7.9.25 to 9.7.9.28: asynchronous copies
      {Opcode::cp_async, "cp.async.cg.shared.global.L2::128B [a], [b], 16, 8;"},
      {Opcode::cp_async_bulk,
       "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [a], [b], n, [m];"},
      {Opcode::cp_async_bulk, "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [a], [b], 16, mask;"},
      {Opcode::cp_reduce_async_bulk,
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [a], [b], n;"},
      {Opcode::cp_async_bulk_prefetch, "cp.async.bulk.prefetch.L2.global [a], 64;"},
      {Opcode::cp_async_bulk_tensor_load,
       "cp.async.bulk.tensor.5d.shared::cta.global.tile.mbarrier::complete_tx::bytes [a], [m, {x, x, x, x, "
       "x}], [b];"},
      {Opcode::cp_async_bulk_tensor_load,
       "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::"
       "cluster [a], [m, "
       "{x, y, z}], [b], {i}, mask;"},
      {Opcode::cp_async_bulk_tensor_store,
       "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [m, {x, y, z}], [a];"},
      {Opcode::cp_reduce_async_bulk_tensor,
       "cp.reduce.async.bulk.tensor.1d.global.shared::cta.xor.tile.bulk_group [m, {x}], [a];"},
      {Opcode::cp_async_bulk_prefetch_tensor, "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [m, {x, y}];"},
      {Opcode::cp_async_bulk_wait_group, "cp.async.bulk.wait_group.read 3;"},
      {Opcode::tensormap_replace, "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [a], 2, 64;"},
      {Opcode::tensormap_cp_fenceproxy,
       "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [a], [b], "
       "128;"},
      // 9.7.10, 9.7.11: textures and surfaces
      {Opcode::texture, "tex.2d.v4.f32.f32 {a, b, c, d}, [t, {x, y}];"},
      {Opcode::texture, "tex.grad.2d.v4.f32.f32 {a, b, c, d}, [t, {x, y}], {a, b}, {c, d};"},
      {Opcode::texture, "suld.b.a2d.v2.b32.zero {a, b}, [t, {x, y, z, z}];"},
      {Opcode::texture, "txq.width.b32 d, [t];"},
      {Opcode::surface, "sust.b.2d.b32.trap [t, {x, y}], a;"},
      {Opcode::surface, "sured.b.add.2d.u32.clamp [t, {x, y}], a;"},
      // 9.7.12: control flow
      {Opcode::bra, "bra.uni l;"},
      {Opcode::call, "call f;"},
      {Opcode::call, "call.uni (r), f, (a), p;"},
      {Opcode::ret, "ret;"},
      // 9.7.13: synchronisation and communication
      {Opcode::bar_sync, "barrier.sync.aligned 1, 128;"},
      {Opcode::bar_red, "bar.red.or.pred p, 0, q;"},
      {Opcode::barrier_cluster_arrive, "barrier.cluster.arrive.relaxed.aligned;"},
      {Opcode::fence, "fence.acq_rel.cluster;"},
      {Opcode::fence_proxy, "fence.proxy.async.shared::cta;"},
      {Opcode::fence_proxy, "fence.proxy.tensormap::generic.acquire.sys [a], 128;"},
      {Opcode::fence_mbarrier_init, "fence.mbarrier_init.release.cluster;"},
      {Opcode::atom, "atom.acq_rel.gpu.global.cas.b32 d, [a], b, c;"},
      {Opcode::red, "red.relaxed.gpu.global.add.noftz.f16x2 [a], b;"},
      {Opcode::vote, "vote.sync.ballot.b32 d, p, -1;"},
      {Opcode::match, "match.all.sync.b64 d|p, a, -1;"},
      {Opcode::redux, "redux.sync.xor.b32 d, a, -1;"},
      {Opcode::mbarrier_arrive, "mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [a], 16;"},
      {Opcode::mbarrier_arrive, "mbarrier.arrive.noComplete.shared.b64 d, [a], 2;"},
      {Opcode::mbarrier_try_wait, "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [a], 0, 1000;"},
      {Opcode::mbarrier_complete_tx, "mbarrier.complete_tx.shared::cluster.relaxed.cluster.b64 [a], b;"},
      // 9.7.14, 9.7.15: matrices
      {Opcode::ldmatrix, "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {a}, [p];"},
      {Opcode::mma,
       "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {a,b,c,d}, {e,f,g,h}, {i,j}, {k,l,m,n};"},
      {Opcode::wgmma_mma_async,
       "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, da, db, p, 1, 1, 0, 1;"},
      {Opcode::wgmma_mma_async,
       "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e5m2 {a, b}, {c,d,e,f}, db, p, 1, -1;"},
      {Opcode::setmaxnreg, "setmaxnreg.dec.sync.aligned.u32 40;"},
  };
  std::set<Opcode> seen;
  for (const Sample& sample : samples) {
    CAPTURE(sample.text);
    const Instruction instruction = tests::instruction(sample.text);
    CHECK(instruction.opcode == sample.opcode);
    CHECK((tests::instruction(print(instruction)) == instruction));
    seen.insert(sample.opcode);
  }
  CHECK(seen.size() > 70);
}

TEST_CASE("an instruction that matches no form gets the opcode unknown") {
  for (const char* text : {
           "add.sat.u32 d, a, b;",       // .sat is for s32
           "mul.u32 d, a, b;",           // integers need .lo, .hi or .wide
           "setp.f32 p, a, b;",          // no comparison
           "shl.s32 d, a, b;",           // shl is for bits
           "fma.f32 d, a, b, c;",        // fma needs a rounding
           "popc.b16 d, a;",             // popc is for 32 and 64 bits
           "cvt.rn.f64.e4m3x2 d, a;",    // e4m3x2 is converted to f16x2 only
           "ld.v3.f32 {a, b, c}, [p];",  // vectors have 2, 4 or 8 elements
           "mul.u32.wide d, a, b;",      // modifiers in an order that no compiler accepts
           "mbarrier.try_wait.shared.parity.b64 p, [a], b;",
           "cvt.rn.f32.s64.f16 d, a;",  // one type too many
           "cp.async.bulk.global.shared::cluster.mbarrier::complete_tx::bytes [a], [b], n, [m];",
           "mbarrier.init.global.b64 [a], 1;",  // mbarriers must be in shared memory
           "cp.async.bulk.tensor.2d.shared::cluster.global.tile.bulk_group [a], [m, {x, y}], [b];",
           "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [a], [m, {x, y}];",  // operands
                                                                                            // swapped
           "wgmma.mma_async.sync.aligned.m64nk16.f32.f16.f16 {a}, d, e, p, 1, 1, 0, 0;",
           "bra;",
           "ret 3;",
           "add.s32 d, a, [b];",
           "mov.u32 [d], a;",
       }) {
    CAPTURE(text);
    CHECK_FALSE(tests::error_of(tests::kernel(text)).empty());
  }
}

TEST_CASE("modifiers in other orders that ptxas accepts are sorted into the ISA's order") {
  struct Order {
    const char* given;
    const char* name;
  };
  // ptxas 13.0 accepts all of these; CUTLASS, Triton, CCCL and nvcc use most of them.
  const Order orders[] = {
      {"ldmatrix.sync.aligned.x4.m8n8.shared.b16 {a, b, c, d}, [p];",
       "ldmatrix.sync.aligned.m8n8.x4.shared.b16"},
      {"ldmatrix.sync.aligned.x2.trans.m8n8.shared::cta.b16 {a, b}, [p];",
       "ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16"},
      {"stmatrix.sync.aligned.x4.m8n8.shared.b16 [p], {a, b, c, d};",
       "stmatrix.sync.aligned.m8n8.x4.shared.b16"},
      {"atom.global.gpu.acq_rel.add.u32 d, [p], a;", "atom.acq_rel.gpu.global.add.u32"},
      {"atom.add.u32.global.gpu.acq_rel d, [p], a;", "atom.acq_rel.gpu.global.add.u32"},
      {"atom.global.cta.cas.b16 d, [p], a, b;", "atom.cta.global.cas.b16"},
      {"atom.add.noftz.global.f16x2 d, [p], a;", "atom.global.add.noftz.f16x2"},
      {"atom.global.v4.f32.add {a, b, c, d}, [p], {a, b, c, d};", "atom.global.add.v4.f32"},
      {"atom.exch.b128.global d, [p], a;", "atom.global.exch.b128"},
      {"red.gpu.global.add.release.u32 [p], a;", "red.release.gpu.global.add.u32"},
      {"red.global.sys.add.f32 [p], a;", "red.sys.global.add.f32"},
      {"red.global.v4.f32.add [p], {a, b, c, d};", "red.global.add.v4.f32"},
      {"ld.global.gpu.acquire.u32 d, [p];", "ld.acquire.gpu.global.u32"},
      {"ld.nc.global.v4.u32 {a, b, c, d}, [p];", "ld.global.nc.v4.u32"},
      {"ld.global.L1::no_allocate.L2::256B.nc.u32 d, [p];", "ld.global.nc.L1::no_allocate.L2::256B.u32"},
      {"ld.v2.global.u32 {a, b}, [p];", "ld.global.v2.u32"},
      {"ld.u32.global d, [p];", "ld.global.u32"},
      {"st.global.release.gpu.u32 [p], a;", "st.release.gpu.global.u32"},
      {"st.global.volatile.u32 [p], a;", "st.volatile.global.u32"},
      {"add.f32.rn d, a, b;", "add.rn.f32"},
      {"max.s16x2.relu d, a, b;", "max.relu.s16x2"},
      {"mbarrier.expect_tx.shared::cta.relaxed.cta.b64 [p], a;",
       "mbarrier.expect_tx.relaxed.cta.shared::cta.b64"},
      {"vadd.sat.s32.s32.s32 d, a, b;", "vadd.s32.s32.s32.sat"},
      {"wmma.load.a.sync.aligned.m16n16k16.shared.row.f16 {a, b, c, d, e, f, g, h}, [p], s;",
       "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16"},
  };
  for (const auto& [given, name] : orders) {
    CAPTURE(given);
    const Instruction instruction = tests::instruction(given);
    CHECK(instruction.fault.empty());
    CHECK(instruction.name == name);
    CHECK((tests::instruction(print(instruction)) == instruction));
  }
}

TEST_CASE("every row of the table is well formed and reachable") {
  for (const FormRow& row : form_rows()) {
    CAPTURE(row.name, row.modifiers, row.operands);
    for (const bool with_optional : {false, true}) {
      const Instruction sample = sample_instruction(row, with_optional);
      const FormMatch match = match_form(sample.words(), sample.operands);
      CHECK(match.fault == FormMatch::Fault::none);
      CHECK(match.opcode == row.opcode);
      CHECK((tests::instruction(print(sample)) == sample));
    }
  }
}
