#include "lint/large.hpp"

#include <spdlog/fmt/fmt.h>

namespace tests {
namespace {

const std::string header = ".version 9.0\n.target sm_90a\n.address_size 64\n";
const std::string fence_all = "fence.proxy.async.shared::cta;\n";
const std::string cta_barrier = "bar.sync 0;\n";
/// A correct store of the tile.
const std::string correct_store =
    fence_all + cta_barrier +
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r3, %r3}], [%r1];\n"
    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nret;\n";

std::string kernel(const std::string& body, int registers, const std::string& name = "k") {
  return fmt::format(
      ".visible .entry {1}(.param .align 64 .b8 map[128], .param .u32 n, .param .u64 out)\n{{\n"
      ".reg .pred %p<{0}>;\n.reg .b32 %r<{0}>;\n.reg .b64 %rd<{0}>;\n.reg .f32 %f<{0}>;\n"
      ".shared .align 1024 .b8 tile[8192];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nmov.u64 %rd0, map;\n"
      "ld.param.u32 %r2, [n];\nld.param.u64 %rd1, [out];\nmov.u32 %r3, 0;\n{2}}}\n",
      registers, name, body);
}

/// Loads predicate %p<i> from memory.
std::string load_predicate(int i) {
  return fmt::format("ld.global.u32 %r{0}, [%rd1+{1}];\nsetp.ne.u32 %p{0}, %r{0}, 0;\n", i, i * 4);
}
std::string store_part(int i) {
  return fmt::format("st.shared.u32 [%r1+{}], %r0;\n", i * 4 % 4096);
}

}  // namespace

std::string straight_code(int lines) {
  std::string body;
  for (int i = 10; i < lines + 10; i += 6) {
    body += fmt::format(
        "add.s32 %r{0}, %r2, {0};\nmul.wide.u32 %rd{0}, %r{0}, 4;\nadd.s64 %rd{1}, %rd{0}, %rd1;\n", i,
        i + 1);
    body +=
        fmt::format("ld.global.f32 %f{0}, [%rd{1}];\nfma.rn.f32 %f{1}, %f{0}, %f{0}, %f{0};\n", i, i + 1) +
        store_part(i);
  }
  return header + kernel(body + correct_store, lines + 20);
}

std::string guarded_stores(int predicates) {
  std::string body;
  for (int i = 1; i <= predicates; ++i) body += load_predicate(i + 9);
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 1; i <= predicates; ++i) body += fmt::format("@%p{} ", i + 9) + store_part(i);
  }
  return header + kernel(body + correct_store, predicates + 20);
}

std::string branches(int count) {
  std::string body;
  for (int i = 10; i < count + 10; ++i)
    body += load_predicate(i) + fmt::format("@%p{0} bra L{0};\n", i) + store_part(i) +
            fmt::format("add.s32 %r3, %r3, 1;\nL{}:\n", i);
  for (int i = 10; i < count + 10; ++i)
    body += fmt::format("@%p{0} bra M{0};\n", i) + store_part(i) + fmt::format("M{}:\n", i);
  return header + kernel(body + correct_store, count + 20);
}

std::string nested_loops(int depth) {
  std::string begins;
  std::string ends;
  for (int i = 10; i < depth + 10; ++i) {
    begins += fmt::format("mov.u32 %r{0}, 0;\nL{0}:\nadd.s32 %r4, %r4, %r{0};\n", i) + store_part(i);
    ends.insert(
        0, fmt::format("add.s32 %r{0}, %r{0}, 1;\nsetp.lt.s32 %p{0}, %r{0}, %r2;\n@%p{0} bra L{0};\n", i));
  }
  return header + kernel(begins + ends + correct_store, depth + 20);
}

std::string early_exits(int count) {
  std::string body;
  for (int i = 10; i < count + 10; ++i)
    body += fmt::format("{}@%p{} exit;\n{}{}{}{}", load_predicate(i), i, store_part(i), cta_barrier,
                        fence_all, cta_barrier);
  return header + kernel(body + correct_store, count + 20);
}

std::string many_kernels(int count) {
  std::string text = header;
  for (int i = 0; i < count; ++i)
    text += kernel(load_predicate(10) + "@%p10 " + store_part(i) + correct_store, 20, fmt::format("k{}", i));
  return text;
}

std::string guarded_fences(int predicates) {
  std::string body = store_part(0);
  for (int i = 10; i < predicates + 10; ++i) body += load_predicate(i);
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 10; i < predicates + 10; ++i) body += fmt::format("@%p{} ", i) + fence_all;
  }
  return header + kernel(body + correct_store, predicates + 20);
}

}  // namespace tests
