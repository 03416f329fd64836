#include "device_headers/rows.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace tests {
namespace {

constexpr const char* hint_words[] = {"", ".L2::cache_hint"};
constexpr const char* hint_arguments[] = {"", ", ptx::CachePolicy{wide}"};
constexpr const char* hint_operands[] = {"", ", wide"};

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  return text;
}

void add_tensor_reductions(std::vector<HeaderRow>& rows, const std::string& operation) {
  for (int rank = 1; rank <= 5; ++rank) {
    std::vector<int> at(rank);
    std::iota(at.begin(), at.end(), 11);
    const std::string coordinates = fmt::format("{}", fmt::join(at, ", "));
    for (int hint = 0; hint < 2; ++hint) {
      for (const bool im2col : {false, true}) {
        if (im2col && rank < 3) continue;
        rows.push_back(
            {fmt::format("ptx::{}_reduce_{}(map, Coordinates<{}>{{{}}}, 256{});",
                         im2col ? "im2col" : "tensor", operation, rank, coordinates, hint_arguments[hint]),
             fmt::format(
                 "cp.reduce.async.bulk.tensor.{}d.global.shared::cta.{}.{}.bulk_group{} [map, {{{}}}], "
                 "[256]{};",
                 rank, operation, im2col ? "im2col_no_offs" : "tile", hint_words[hint], coordinates,
                 hint_operands[hint]),
             fmt::format("UTMAREDG.{}D{}.{}", rank, im2col ? ".IM2COL" : "", upper(operation))});
      }
    }
  }
}

/// Reductions in global memory by threads, a compare-and-swap, and min and max in registers.
void add_global_reductions(std::vector<HeaderRow>& rows) {
  const auto add = [&](std::string form, const char* call, const char* operand) {
    std::string name = form;
    std::ranges::replace(name, '.', '_');
    rows.push_back({fmt::format("ptx::global_reduce_{}(memory, {});", name, call),
                    fmt::format("red.relaxed.gpu.global.{} [memory], {};", form, operand),
                    form.find("noftz") == std::string::npos ? "RED" : "ATOMG.E.CAS"});
  };
  for (const char* form : {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "inc.u32",
                           "dec.u32", "and.b32", "or.b32", "xor.b32", "add.f32"}) {
    add(form, "narrow", "wide");
  }
  for (const char* form :
       {"add.u64", "min.u64", "min.s64", "max.u64", "max.s64", "and.b64", "or.b64", "xor.b64"}) {
    add(form, "wide", "wide");
  }
  for (const char* form : {"add.noftz.f16", "add.noftz.bf16"}) add(form, "static_cast<u16>(wide)", "wide");
  add("add.f64", "wide", "wide");
  const auto add_vector = [&](std::string form) {
    std::string name = form;
    std::ranges::replace(name, '.', '_');
    const bool has_four = form.find("v4") != std::string::npos;
    rows.push_back({fmt::format("ptx::global_reduce_{}(memory, {{{}}});", name,
                                has_four ? "narrow, narrow, narrow, narrow" : "narrow, narrow"),
                    fmt::format("red.relaxed.gpu.global.{} [memory], {{{}}};", form,
                                has_four ? "wide, wide, wide, wide" : "wide, wide"),
                    "RED"});
  };
  for (const char* form : {"add.v2.f32", "add.v4.f32"}) add_vector(form);
  for (const char* pair : {"f16x2", "bf16x2"}) {
    rows.push_back({fmt::format("ptx::global_reduce_add_noftz_{}(memory, narrow);", pair),
                    fmt::format("red.relaxed.gpu.global.add.noftz.{} [memory], wide;", pair), "RED"});
    add_vector(fmt::format("add.noftz.v2.{}", pair));
    add_vector(fmt::format("add.noftz.v4.{}", pair));
  }
  rows.push_back(
      {"*reinterpret_cast<volatile u16*>(out) = ptx::compare_and_swap(reinterpret_cast<u16*>(memory), 3, 4);",
       "atom.relaxed.gpu.global.cas.b16 out0, [memory], 3, 4;", "ATOMG.E.CAS"});
  for (const char* form : {"min.f16", "min.bf16", "max.f16", "max.bf16"}) {
    std::string name = form;
    std::ranges::replace(name, '.', '_');
    rows.push_back(
        {fmt::format("*reinterpret_cast<volatile u16*>(out) = ptx::{}(static_cast<u16>(wide), 7);", name),
         fmt::format("{} out0, wide, 7;", form), "HMNMX2"});
  }
  for (const char* form : {"min.NaN.f32", "max.NaN.f32"}) {
    std::string name = form;
    std::ranges::replace(name, '.', '_');
    rows.push_back({fmt::format("*reinterpret_cast<volatile float*>(out) = "
                                "ptx::{}(__uint_as_float(static_cast<u32>(wide)), 7.0f);",
                                name),
                    fmt::format("{} out0, wide, 0f40E00000;", form), "FMNMX.NAN"});
  }
}

}  // namespace

std::vector<HeaderRow> reduction_rows() {
  std::vector<HeaderRow> rows;
  for (const char* operation : {"add", "min", "max", "inc", "dec", "and", "or", "xor"}) {
    add_tensor_reductions(rows, operation);
  }
  // Every form that PTX has. A form that PTX does not have would not compile.
  for (const char* form :
       {"add.u32", "add.s32", "add.u64", "add.f32", "add.f64",  "add.noftz.f16", "add.noftz.bf16",
        "min.u32", "min.s32", "min.u64", "min.s64", "min.f16",  "min.bf16",      "max.u32",
        "max.s32", "max.u64", "max.s64", "max.f16", "max.bf16", "inc.u32",       "dec.u32",
        "and.b32", "and.b64", "or.b32",  "or.b64",  "xor.b32",  "xor.b64"}) {
    std::string name = form;
    std::ranges::replace(name, '.', '_');
    for (int hint = 0; hint < 2; ++hint) {
      rows.push_back(
          {fmt::format("ptx::bulk_reduce_{}(memory, 256, 4096{});", name, hint_arguments[hint]),
           fmt::format("cp.reduce.async.bulk.global.shared::cta.bulk_group{}.{} [memory], [256], 4096{};",
                       hint_words[hint], form, hint_operands[hint]),
           "UBLKRED.G.S." + upper(std::string(form, std::string_view(form).find('.')))});
    }
  }
  for (const char* form : {"add.u32", "add.s32", "add.u64", "min.u32", "min.s32", "max.u32", "max.s32",
                           "inc.u32", "dec.u32", "and.b32", "or.b32", "xor.b32"}) {
    std::string name = form;
    std::ranges::replace(name, '.', '_');
    rows.push_back(
        {fmt::format("ptx::bulk_reduce_shared_{}(256, 1024, 4096, 512);", name),
         fmt::format("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{} "
                     "[256], [1024], 4096, [512];",
                     form),
         "UBLKRED"});
  }
  add_global_reductions(rows);
  return rows;
}

}  // namespace tests
