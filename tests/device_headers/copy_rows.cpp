#include "device_headers/rows.hpp"

#include <numeric>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace tests {
namespace {

/// Distinct coordinates: "11, 12, 13".
std::string coordinates(int rank) {
  std::vector<int> at(rank);
  std::iota(at.begin(), at.end(), 11);
  return fmt::format("{}", fmt::join(at, ", "));
}
/// The offsets of a filter's tap: "1, 2".
std::string taps(int rank) {
  std::vector<int> at(rank - 2);
  std::iota(at.begin(), at.end(), 1);
  return fmt::format("{}", fmt::join(at, ", "));
}

/// An option of a call: its modifier, and the text it appends to the arguments and to the instruction's
/// operands.
struct Option {
  const char* word;
  const char* argument;
  const char* operand;
};
constexpr Option hints[] = {{"", "", ""}, {".L2::cache_hint", ", ptx::CachePolicy{wide}", ", wide"}};
constexpr Option multicasts[] = {{"", "", ""}, {".multicast::cluster", ", CtaMask{5}", ", 5"}};

void add_loads(std::vector<HeaderRow>& rows, int rank) {
  for (const Option& multicast : multicasts) {
    for (const Option& hint : hints) {
      rows.push_back(
          {fmt::format("ptx::tensor_load(256, map, Coordinates<{}>{{{}}}, 512{}{});", rank, coordinates(rank),
                       multicast.argument, hint.argument),
           fmt::format(
               "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{}{} "
               "[256], [map, {{{}}}], [512]{}{};",
               rank, multicast.word, hint.word, coordinates(rank), multicast.operand, hint.operand),
           fmt::format("UTMALDG.{}D{}", rank, *multicast.word ? ".MULTICAST" : "")});
      if (rank < 3) continue;
      rows.push_back(
          {fmt::format("ptx::im2col_load(256, map, Coordinates<{}>{{{}}}, TapOffsets<{}>{{{}}}, 512{}{});",
                       rank, coordinates(rank), rank - 2, taps(rank), multicast.argument, hint.argument),
           fmt::format(
               "cp.async.bulk.tensor.{}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes{}{} "
               "[256], [map, {{{}}}], [512], {{{}}}{}{};",
               rank, multicast.word, hint.word, coordinates(rank), taps(rank), multicast.operand,
               hint.operand),
           fmt::format("UTMALDG.{}D.IM2COL{}", rank, *multicast.word ? ".MULTICAST" : "")});
    }
  }
}

void add_stores_and_prefetches(std::vector<HeaderRow>& rows, int rank) {
  const std::string at = fmt::format("Coordinates<{}>{{{}}}", rank, coordinates(rank));
  const std::string tile = fmt::format("[map, {{{}}}]", coordinates(rank));
  for (const Option& hint : hints) {
    const auto add = [&](const std::string& call, const std::string& ptx, const std::string& sass) {
      rows.push_back(
          {fmt::format("ptx::{}{});", call, hint.argument), fmt::format("{}{};", ptx, hint.operand), sass});
    };
    add(fmt::format("tensor_store(map, {}, 256", at),
        fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group{} {}, [256]", rank,
                    hint.word, tile),
        fmt::format("UTMASTG.{}D", rank));
    add(fmt::format("tensor_prefetch(map, {}", at),
        fmt::format("cp.async.bulk.prefetch.tensor.{}d.L2.global.tile{} {}", rank, hint.word, tile),
        fmt::format("UTMAPF.L2.{}D", rank));
    if (rank < 3) continue;
    add(fmt::format("im2col_store(map, {}, 256", at),
        fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.im2col_no_offs.bulk_group{} {}, [256]", rank,
                    hint.word, tile),
        fmt::format("UTMASTG.{}D.IM2COL", rank));
    add(fmt::format("im2col_prefetch(map, {}, TapOffsets<{}>{{{}}}", at, rank - 2, taps(rank)),
        fmt::format("cp.async.bulk.prefetch.tensor.{}d.L2.global.im2col{} {}, {{{}}}", rank, hint.word, tile,
                    taps(rank)),
        fmt::format("UTMAPF.L2.{}D.IM2COL", rank));
  }
}

}  // namespace

std::vector<HeaderRow> copy_rows() {
  std::vector<HeaderRow> rows;
  for (int rank = 1; rank <= 5; ++rank) {
    add_loads(rows, rank);
    add_stores_and_prefetches(rows, rank);
  }
  for (const Option& hint : hints) {
    for (const Option& multicast : multicasts) {
      rows.push_back(
          {fmt::format("ptx::bulk_load(256, memory, 4096, 512{}{});", multicast.argument, hint.argument),
           fmt::format("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{}{} "
                       "[256], [memory], 4096, [512]{}{};",
                       multicast.word, hint.word, multicast.operand, hint.operand),
           fmt::format("UBLKCP.S.G{}", *multicast.word ? ".MULTICAST" : "")});
    }
    rows.push_back({fmt::format("ptx::bulk_store(memory, 256, 4096{});", hint.argument),
                    fmt::format("cp.async.bulk.global.shared::cta.bulk_group{} [memory], [256], 4096{};",
                                hint.word, hint.operand),
                    "UBLKCP.G.S"});
    rows.push_back(
        {fmt::format("ptx::bulk_prefetch(memory, 4096{});", hint.argument),
         fmt::format("cp.async.bulk.prefetch.L2.global{} [memory], 4096{};", hint.word, hint.operand),
         "UBLKPF"});
  }
  rows.push_back({"ptx::bulk_send(256, 1024, 4096, 512);",
                  "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [256], [1024], "
                  "4096, [512];",
                  "UBLKCP"});
  for (const Option& hint : hints) {
    const auto add = [&](const std::string& call, const std::string& after, const std::string& name,
                         const std::string& operands, const char* sass) {
      rows.push_back(
          {fmt::format("ptx::{}{});{}", call, hint.argument, after),
           fmt::format(fmt::runtime(name), hint.word) + fmt::format(" {}{};", operands, hint.operand), sass});
    };
    add("copy16_async(256, memory, 12", "", "cp.async.cg.shared.global{}", "[256], [memory], 16, 12",
        "LDGSTS");
    add("store_vector16(memory, words4", "", "st.global{}.v4.b32", "[memory], {70, 71, 72, 73}", "STG.E.128");
    add("store_vector8(memory, words2", "", "st.global{}.v2.b32", "[memory], {70, 71}", "STG.E.64");
    add("load_vector16(word, memory", " store(out, word);", "ld.global{}.v4.b32",
        "{out0, out1, out2, out3}, [memory]", "LDG.E.128");
    add("load_vector8(pair, memory", " store(out, pair);", "ld.global{}.v2.b32", "{out0, out1}, [memory]",
        "LDG.E.64");
  }
  rows.push_back({"ptx::store_relaxed(memory, wide);", "st.relaxed.gpu.global.b64 [memory], wide;",
                  "STG.E.64.STRONG.GPU"});
  rows.push_back({"ptx::store_piece_relaxed(memory, wide);", "st.relaxed.gpu.global.b64 [memory], wide;",
                  "STG.E.64.STRONG.GPU"});
  rows.push_back({"ptx::store_piece_relaxed(memory, narrow);", "st.relaxed.gpu.global.b32 [memory], wide;",
                  "STG.E.STRONG.GPU"});
  rows.push_back({"out64[0] = ptx::load_relaxed(memory);", "ld.relaxed.gpu.global.b64 wide0, [memory];",
                  "LDG.E.64.STRONG.GPU"});
  return rows;
}

}  // namespace tests
