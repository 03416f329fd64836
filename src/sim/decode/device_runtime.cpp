#include "sim/decode/device_runtime.hpp"

#include "ptx/parser.hpp"

#include <algorithm>
#include <string_view>

TMAJIT_BEGIN
namespace sim {
namespace {

/// The grid's handle is the address of a cooperative launch's workspace; it is 0 in any other launch. The
/// barrier works as in CUDA's cooperative groups: CTA 0 adds 2^31 minus the number of other CTAs, and each
/// other CTA adds 1. So the highest bit of the counter flips when all have arrived.
constexpr std::string_view text = R"(.version 8.0
.target sm_90a
.address_size 64
.func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  mov.u32 %r1, %envreg1;
  mov.u32 %r2, %envreg2;
  mov.b64 %rd1, {%r2, %r1};
  st.param.b64 [handle], %rd1;
  ret;
}
.func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags) {
  .reg .b32 %r<12>;
  .reg .b64 %rd<2>;
  .reg .pred %p<6>;
  ld.param.u64 %rd1, [handle];
  setp.eq.u64 %p1, %rd1, 0;
  @%p1 trap;
  barrier.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra MET;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  mov.u32 %r6, %ctaid.z;
  or.b32 %r4, %r4, %r5;
  or.b32 %r4, %r4, %r6;
  setp.ne.u32 %p3, %r4, 0;
  mov.u32 %r4, %nctaid.x;
  mov.u32 %r5, %nctaid.y;
  mov.u32 %r6, %nctaid.z;
  mul.lo.u32 %r4, %r4, %r5;
  mul.lo.u32 %r4, %r4, %r6;
  sub.u32 %r7, 0x80000001, %r4;
  selp.b32 %r7, 1, %r7, %p3;
  fence.acq_rel.gpu;
  atom.relaxed.gpu.global.add.u32 %r8, [%rd1+4], %r7;
AGAIN:
  ld.acquire.gpu.global.u32 %r9, [%rd1+4];
  xor.b32 %r10, %r8, %r9;
  setp.ge.s32 %p4, %r10, 0;
  @%p4 bra AGAIN;
MET:
  barrier.sync 0;
  st.param.b32 [error], 0;
  ret;
}
)";

void set_location(ptx::Block& block, ptx::Location at) {
  for (ptx::Statement& statement : block.statements) {
    if (auto* instruction = std::get_if<ptx::Instruction>(&statement.node)) instruction->location = at;
  }
}

}  // namespace

void define_device_runtime(ptx::Module& module) {
  static const ptx::Module runtime = *ptx::parse(text, "device runtime").module;
  std::vector<ptx::Directive> bodies;
  for (const ptx::Directive& directive : runtime.directives) {
    const auto* function = std::get_if<ptx::Function>(&directive);
    if (function == nullptr) continue;
    const ptx::Function* declared = module.find(function->name);
    if (declared == nullptr || declared->body) continue;
    ptx::Function defined = *function;
    defined.location = declared->location;
    set_location(*defined.body, declared->location);
    bodies.emplace_back(std::move(defined));
  }
  std::ranges::move(bodies, std::back_inserter(module.directives));
}

}  // namespace sim
TMAJIT_END
