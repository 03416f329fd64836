#include "device_headers/rows.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace tests {
namespace {

/// Adds rows of matrices. Addresses are not constants, because ptxas 13.0 fails on those.
void add_matrices(std::vector<HeaderRow>& rows) {
  for (const int count : {1, 2, 4}) {
    std::vector<std::string> out;
    std::vector<int> in;
    std::string stores;
    for (int i = 0; i < count; ++i) {
      out.push_back(fmt::format("out{}", i));
      in.push_back(70 + i);
      stores += fmt::format(" out[{0}] = found[{0}];", i);
    }
    for (const bool transposed : {false, true}) {
      const char* const name = transposed ? "_transposed" : "";
      const char* const word = transposed ? ".trans" : "";
      rows.push_back(
          {fmt::format("u32 found[{}]; ptx::load_matrices{}(found, narrow);{}", count, name, stores),
           fmt::format("ldmatrix.sync.aligned.m8n8.x{}{}.shared.b16 {{{}}}, [wide];", count, word,
                       fmt::join(out, ", ")),
           transposed ? "LDSM.16.MT88" : "LDSM.16.M88"});
      rows.push_back({fmt::format("ptx::store_matrices{}(narrow, words{});", name, count),
                      fmt::format("stmatrix.sync.aligned.m8n8.x{}{}.shared.b16 [wide], {{{}}};", count, word,
                                  fmt::join(in, ", ")),
                      transposed ? "STSM.16.MT88" : "STSM.16.M88"});
    }
  }
}

void add_tensor_map_edits(std::vector<HeaderRow>& rows) {
  const auto replace = [&](const std::string& call, const std::string& field, const std::string& operands,
                           const char* type = "b32") {
    rows.push_back(
        {fmt::format("ptx::replace_{};", call),
         fmt::format("tensormap.replace.tile.{}.shared::cta.b1024.{} [256], {};", field, type, operands),
         "STS"});  // stores to a map's fields are ordinary stores
  };
  replace("address(256, memory)", "global_address", "memory", "b64");
  replace("rank(256, 4)", "rank", "3");
  for (int d = 0; d < 5; ++d) {
    for (const char* field : {"box_dim", "global_dim", "element_stride"}) {
      replace(fmt::format("{}<{}>(256, 77)", field, d), field, fmt::format("{}, 77", d));
    }
    if (d < 4)
      replace(fmt::format("global_stride<{}>(256, wide)", d), "global_stride", fmt::format("{}, wide", d),
              "b64");
  }
  // The numbers are those of PTX's table, not of the driver's.
  int number = 0;
  for (const char* type : {"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32_ftz", "f64", "bf16",
                           "tf32", "tf32_ftz"}) {
    replace(fmt::format("elemtype<MapElement::{}>(256)", type), "elemtype", fmt::format("{}", number++));
  }
  number = 0;
  for (const char* layout : {"none", "b16", "b32"}) {
    replace(fmt::format("interleave_layout<MapInterleave::{}>(256)", layout), "interleave_layout",
            fmt::format("{}", number++));
  }
  number = 0;
  for (const char* mode : {"none", "b32", "b64", "b128"}) {
    replace(fmt::format("swizzle_mode<MapSwizzle::{}>(256)", mode), "swizzle_mode",
            fmt::format("{}", number++));
  }
  replace("fill_mode<MapFill::zero>(256)", "fill_mode", "0");
  replace("fill_mode<MapFill::nan>(256)", "fill_mode", "1");
  for (const char* scope : {"cta", "cluster", "gpu", "sys"}) {
    rows.push_back(
        {fmt::format("ptx::publish_tensor_map_to_{}(reinterpret_cast<TensorMap*>(memory), 256);", scope),
         fmt::format("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.{}.sync."
                     "aligned [memory], [256], 128;",
                     scope),
         "ATOMG"});
    rows.push_back({fmt::format("ptx::release_tensor_maps_to_{}();", scope),
                    fmt::format("fence.proxy.tensormap::generic.release.{};", scope), "MEMBAR"});
    rows.push_back(
        {fmt::format("ptx::acquire_tensor_map_of_{}(reinterpret_cast<TensorMap*>(memory));", scope),
         fmt::format("fence.proxy.tensormap::generic.acquire.{} [memory], 128;", scope), "UTMACCTL.IV"});
  }
  rows.push_back({"ptx::prefetch_tensor_map(map);", "prefetch.tensormap [map];", "UTMACCTL.PF"});
}

}  // namespace

std::vector<HeaderRow> other_rows() {
  std::vector<HeaderRow> rows;
  for (const char* priority : {"evict_first", "evict_normal", "evict_last", "evict_unchanged"}) {
    rows.push_back({fmt::format("out64[0] = ptx::{}().bits;", priority),
                    fmt::format("createpolicy.fractional.L2::{}.b64 wide0, 0d3FF0000000000000;", priority),
                    ""});
    rows.push_back({fmt::format("out64[0] = ptx::{}(0.5f).bits;", priority),
                    fmt::format("createpolicy.fractional.L2::{}.b64 wide0, 0f3F000000;", priority), ""});
    rows.push_back(
        {fmt::format("out64[0] = ptx::{}_in(memory, 4096, 65536).bits;", priority),
         fmt::format("createpolicy.range.global.L2::{}.L2::evict_first.b64 wide0, [memory], 4096, 65536;",
                     priority),
         ""});
  }
  add_matrices(rows);
  add_tensor_map_edits(rows);
  rows.push_back({"out[0] = __float_as_uint(ptx::exp2(__uint_as_float(narrow)));",
                  "ex2.approx.ftz.f32 out0, wide;", "MUFU.EX2"});
  rows.push_back({"ptx::raise_registers<232>();", "setmaxnreg.inc.sync.aligned.u32 232;", "USETMAXREG"});
  rows.push_back({"ptx::lower_registers<40>();", "setmaxnreg.dec.sync.aligned.u32 40;", "USETMAXREG"});
  return rows;
}

}  // namespace tests
