#include "device_headers/rows.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace tests {
namespace {

/// A multiplication by its operands' types.
struct Form {               // NOLINT(clang-analyzer-optin.performance.Padding): in the order of the table
  const char* function;     ///< "wgmma_bf16"
  const char* accumulator;  ///< "f32", "f16", "s32"
  const char* types;        ///< types of A and B: "bf16.bf16"
  int k;
  const char* qualifier = "";
  bool has_signs = true;
  bool has_majors = false;
};

constexpr Form forms[] = {
    {"wgmma_bf16", "f32", "bf16.bf16", 16, "", true, true},
    {"wgmma_f16", "f32", "f16.f16", 16, "", true, true},
    {"wgmma_f16", "f16", "f16.f16", 16, "", true, true},
    {"wgmma_tf32", "f32", "tf32.tf32", 8},
    {"wgmma_e4m3_e4m3", "f32", "e4m3.e4m3", 32},
    {"wgmma_e4m3_e5m2", "f32", "e4m3.e5m2", 32},
    {"wgmma_e5m2_e4m3", "f32", "e5m2.e4m3", 32},
    {"wgmma_e5m2_e5m2", "f32", "e5m2.e5m2", 32},
    {"wgmma_e4m3_e4m3", "f16", "e4m3.e4m3", 32},
    {"wgmma_e4m3_e5m2", "f16", "e4m3.e5m2", 32},
    {"wgmma_e5m2_e4m3", "f16", "e5m2.e4m3", 32},
    {"wgmma_e5m2_e5m2", "f16", "e5m2.e5m2", 32},
    {"wgmma_s8_s8", "s32", "s8.s8", 32, "", false},
    {"wgmma_s8_u8", "s32", "s8.u8", 32, "", false},
    {"wgmma_u8_s8", "s32", "u8.s8", 32, "", false},
    {"wgmma_u8_u8", "s32", "u8.u8", 32, "", false},
    {"wgmma_s8_s8_saturated", "s32", "s8.s8", 32, ".satfinite", false},
    {"wgmma_s8_u8_saturated", "s32", "s8.u8", 32, ".satfinite", false},
    {"wgmma_u8_s8_saturated", "s32", "u8.s8", 32, ".satfinite", false},
    {"wgmma_u8_u8_saturated", "s32", "u8.u8", 32, ".satfinite", false},
    {"wgmma_b1", "s32", "b1.b1.and.popc", 256, "", false},
};

HeaderRow row(const Form& form, int n, bool from_registers) {
  const std::string_view accumulator = form.accumulator;
  const int count = accumulator == "f16" ? n / 4 : n / 2;
  const char* const type = accumulator == "f16" ? "u32" : accumulator == "f32" ? "float" : "i32";
  std::vector<std::string> words(count);
  for (int i = 0; i < count; ++i) words[i] = fmt::format("out{}", i);
  // Signs and majors that differ between the operands.
  std::string parameters;
  std::string immediates;
  if (form.has_signs) {
    parameters = "Sign::negated, Sign::kept";
    immediates = ", -1, 1";
  }
  if (form.has_majors) {
    parameters += from_registers ? ", Major::mn" : ", Major::mn, Major::k";
    immediates += from_registers ? ", 1" : ", 1, 0";
  }
  if (!parameters.empty()) parameters = "<" + parameters + ">";
  const char* const a = from_registers ? "words4" : "MatrixDescriptor{80}";
  return {
      fmt::format("{0} d[{1}] = {{}}; ptx::{2}{3}(d, {4}, MatrixDescriptor{{wide}}, true); store(out, d);",
                  type, count, form.function, parameters, a),
      fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}{}.{}.{} {{{}}}, {}, wide, accumulate{};", n, form.k,
                  form.qualifier, form.accumulator, form.types, fmt::join(words, ", "),
                  from_registers ? "{70, 71, 72, 73}" : "80", immediates),
      fmt::format("{}GMMA.64x{}x{}",
                  form.k == 16     ? "H"
                  : form.k == 8    ? "H"
                  : form.k == 256  ? "B"
                  : form.has_signs ? "Q"
                                   : "I",
                  n, form.k)};
}

}  // namespace

std::vector<HeaderRow> wgmma_rows() {
  std::vector<HeaderRow> rows{
      {"ptx::wgmma_fence();", "wgmma.fence.sync.aligned;", "WARPGROUP.ARRIVE"},
      {"ptx::wgmma_commit_group();", "wgmma.commit_group.sync.aligned;", ""},
      {"ptx::wgmma_wait_group<3>();", "wgmma.wait_group.sync.aligned 3;", "WARPGROUP.DEPBAR"},
  };
  for (const Form& form : forms) {
    for (const int n : {16, 96}) {
      rows.push_back(row(form, n, false));
      rows.push_back(row(form, n, true));
    }
  }
  bool from_registers = false;
  for (int n = 8; n <= 256; n += 8) {
    for (const Form* form : {&forms[0], &forms[2], &forms[12]}) {
      if (!form->has_signs && n > 24 && n % 16 != 0) continue;
      from_registers = !from_registers;
      rows.push_back(row(*form, n, from_registers));
    }
  }
  return rows;
}

}  // namespace tests
