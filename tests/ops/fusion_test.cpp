// Random chains of operations, fused and as they are, give the same elements: by the references on the CPU,
// and by kernels on the simulated device.
#include "operations/references.hpp"
#include "ops/random_chains.hpp"
#include "ptx_alone.hpp"
#include "reference/random.hpp"
#include "reference/scalar.hpp"
#include "reference/walk.hpp"
#include "seed.hpp"

#include <tmajit/fusion.hpp>
#include <tmajit/move.hpp>
#include <tmajit/operations.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::Random;
using tests::random_contents, tests::RandomChain;

namespace {

using Bytes = std::vector<std::byte>;

std::vector<DevicePtr> addresses_of(std::vector<Bytes>& buffers) {
  std::vector<DevicePtr> addresses;
  for (Bytes& buffer : buffers) addresses.push_back(reinterpret_cast<DevicePtr>(buffer.data()));
  return addresses;
}

/// The operations as text, for messages.
std::string text_of(const std::vector<Operation>& operations) {
  std::string text;
  for (const Operation& operation : operations) {
    for (const Move& move : operation.moves) {
      text += std::visit([](const auto& body) { return std::string(body.operation); }, move.body);
      if (const auto* const map = std::get_if<Map>(&move.body)) text += " \"" + map->expression + '"';
      if (const auto* const rows = std::get_if<Rowwise>(&move.body)) text += " \"" + rows->steps + '"';
      if (const auto* const what = std::get_if<Reduction>(&move.body))
        text += " " + std::string(name(what->op)) + " \"" + what->expression + "\", epilogue \"" +
                what->epilogue + '"';
      if (const auto* const what = std::get_if<Scan>(&move.body)) text += " \"" + what->expression + '"';
      if (const auto* const what = std::get_if<Gather>(&move.body)) text += " \"" + what->expression + '"';
      for (const Tensor& source : move.sources)
        text += std::string(" ") + std::string(name(source.view.type));
      text += " -> " + std::string(name(move.destination.view.type)) + '\n';
    }
  }
  return text;
}

/// Whether some operation writes a buffer.
bool writes(const std::vector<Operation>& operations, std::size_t buffer) {
  return std::ranges::any_of(operations, [&](const Operation& operation) {
    return std::ranges::any_of(operation.moves, [&](const Move& move) {
      return (move.destination.address >> tests::buffer_bits) - 1 == buffer;
    });
  });
}

/// Where the fused chain's buffers differ from the chain's. Unused tensors that are no longer written must
/// have their elements of before.
std::string difference(const RandomChain& chain, const Fusion& fusion, const std::vector<Bytes>& before,
                       const std::vector<Bytes>& separate, const std::vector<Bytes>& fused) {
  for (std::size_t b = 0; b < before.size(); ++b) {
    const bool is_written = writes(fusion.operations, b);
    const bool is_unused = std::ranges::count(chain.unused, b) > 0;
    if (!is_written && fused[b] != before[b]) return "buffer " + std::to_string(b) + " was touched";
    if (is_unused) continue;
    const ElementType type = chain.tensors[b].view.type;
    for (std::size_t at = 0; at < before[b].size(); at += size_of(type)) {
      if (reference::same_value(type, &separate[b][at], &fused[b][at])) continue;
      return "buffer " + std::to_string(b) + " of " + std::string(name(type)) + " at byte " +
             std::to_string(at) + ": " + reference::bits_text(type, &fused[b][at]) + " instead of " +
             reference::bits_text(type, &separate[b][at]);
    }
  }
  return "";
}

std::vector<Tensor> unused_of(const RandomChain& chain) {
  std::vector<Tensor> unused;
  for (const std::size_t buffer : chain.unused) unused.push_back(chain.tensors[buffer]);
  return unused;
}

/// Each fusion by the names of both operations, in their order: "map, gather". A map of coordinates is called
/// "map of g", and rows with several destinations "several rowwise". Rows that read a reduction's elements
/// and its result end with "in one pass".
std::vector<std::string> fusions_of(const RandomChain& chain, const Fusion& fusion) {
  const std::regex pattern("operation ([0-9]+) .* is fused into operation ([0-9]+) .*");
  const auto name_of = [&](const std::string& number) {
    const Operation& operation = chain.operations.at(std::stoul(number));
    const Move& move = operation.moves.front();
    std::string text = std::visit([](const auto& body) { return std::string(body.operation); }, move.body);
    const auto* const map = std::get_if<Map>(&move.body);
    if (map != nullptr && map->expression.find("g[") != std::string::npos) text += " of g";
    return (operation.destinations.size() > 1 ? "several " : "") + text;
  };
  std::vector<std::string> pairs;
  for (const std::string& sentence : fusion.sentences) {
    std::smatch found;
    if (!std::regex_match(sentence, found, pattern)) continue;
    const bool is_first = std::stoul(found[1]) < std::stoul(found[2]);
    const bool is_one_pass = sentence.find("as steps of rows") != std::string::npos;
    pairs.push_back(name_of(found[is_first ? 1 : 2]) + ", " + name_of(found[is_first ? 2 : 1]) +
                    (is_one_pass ? " in one pass" : ""));
  }
  return pairs;
}

/// The number of fusions of each pair.
using Fusions = std::map<std::string, std::uint64_t>;

std::uint64_t count_all(const Fusions& fused) {
  std::uint64_t count = 0;
  for (const auto& [pair, times] : fused) count += times;
  return count;
}
std::uint64_t count_passes(const Fusions& fused) {
  std::uint64_t count = 0;
  for (const auto& [pair, times] : fused) count += pair.ends_with("in one pass") ? times : 0;
  return count;
}

/// The pairs of `expected` that were never fused.
std::set<std::string> never_fused(const Fusions& fused, const std::set<std::string>& expected) {
  std::set<std::string> missing;
  for (const std::string& pair : expected)
    if (!fused.contains(pair)) missing.insert(pair);
  return missing;
}

/// The buffers after the operations. All moves of an operation read its sources as they were before.
std::vector<Bytes> computed(const std::vector<Operation>& operations, std::vector<Bytes> buffers) {
  for (const Operation& operation : operations) {
    std::vector<Bytes> after = buffers;
    for (std::size_t m = 0; m < operation.moves.size(); ++m) {
      std::vector<Bytes> own = buffers;
      reference::compute(tests::placed({operation}, addresses_of(own)).front().moves[m]);
      const std::size_t written = (operation.moves[m].destination.address >> tests::buffer_bits) - 1;
      for (std::size_t at = 0; at < own[written].size(); ++at)
        if (own[written][at] != buffers[written][at]) after[written][at] = own[written][at];
    }
    buffers = std::move(after);
  }
  return buffers;
}

}  // namespace

TEST_CASE("random chains: the references of the fused operations give the bits of the separate ones") {
  const std::uint64_t seed = tests::seed(20261130);
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 6000);
  Fusions fused;
  for (std::uint64_t n = 0; n < cases; ++n) {
    Random random(seed + n);
    const RandomChain chain = tests::random_chain(random, false);
    const Fusion fusion = fuse(chain.operations, unused_of(chain));
    INFO("TMAJIT_SEED=" << seed + n << "\n"
                        << text_of(chain.operations) << "fused:\n"
                        << text_of(fusion.operations));
    const std::vector<Bytes> before = random_contents(chain, random);
    REQUIRE(difference(chain, fusion, before, computed(chain.operations, before),
                       computed(fusion.operations, before)) == "");
    for (const std::string& pair : fusions_of(chain, fusion)) ++fused[pair];
  }
  const std::uint64_t fusions = count_all(fused);
  std::cout << "  " << cases << " chains: " << fusions << " fusions, " << count_passes(fused)
            << " of them of a reduction and its elements\n";
  CHECK(fusions > cases);
  CHECK(count_passes(fused) > cases / 8);
  // A few cases need not have all pairs.
  const std::set<std::string> expected{
      "copy, gather",
      "copy, stencil",
      "gather, map",
      "map of g, map",
      "map of g, pad",
      "map, gather",
      "map, map",
      "map, map of g",
      "map, pad",
      "map, reduce",
      "map, reduce in one pass",
      "map, rowwise",
      "map, scan",
      "map, several rowwise",
      "reduce, copy",
      "reduce, map",
      "reduce, map in one pass",
      "reduce, pad",
      "reduce, reduce in one pass",
      "reduce, rowwise in one pass",
      "reduce, several rowwise in one pass",
      "rowwise, map",
      "rowwise, map in one pass",
      "rowwise, pad",
      "rowwise, reduce in one pass",
      "rowwise, rowwise in one pass",
      "scan, pad",
      "several rowwise, pad",
      "several rowwise, map",
      "stencil, copy",
  };
  if (cases >= 6000) CHECK(never_fused(fused, expected) == std::set<std::string>{});
}

TEST_CASE("random chains: the kernels of the fused operations give the bits of the separate ones") {
  const std::uint64_t seed = tests::seed(20261130);
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 40);
  const std::shared_ptr<Device> device = make_sim_device({.seed = seed});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_alone});
  Fusions fused;
  for (std::uint64_t n = 0; n < cases; ++n) {
    Random random(seed + n);
    const RandomChain chain = tests::random_chain(random, true);
    const Fusion fusion = fuse(chain.operations, unused_of(chain));
    INFO("TMAJIT_SEED=" << seed + n << "\n"
                        << text_of(chain.operations) << "fused:\n"
                        << text_of(fusion.operations));
    const std::vector<Bytes> before = random_contents(chain, random);
    const auto run = [&](const std::vector<Operation>& operations) {
      std::vector<Buffer> memory;
      std::vector<DevicePtr> addresses;
      for (const Bytes& bytes : before) {
        memory.emplace_back(device, bytes.size());
        addresses.push_back(memory.back().address());
        device->memory().copy_in(addresses.back(), bytes, nullptr);
      }
      plan(runtime, Fusion{.operations = tests::placed(operations, addresses), .sentences = {}})();
      device->streams().synchronize(nullptr);
      std::vector<Bytes> after = before;
      for (std::size_t b = 0; b < after.size(); ++b)
        device->memory().copy_out(after[b], addresses[b], nullptr);
      return after;
    };
    REQUIRE(difference(chain, fusion, before, run(chain.operations), run(fusion.operations)) == "");
    for (const std::string& pair : fusions_of(chain, fusion)) ++fused[pair];
  }
  const std::uint64_t fusions = count_all(fused);
  std::cout << "  " << cases << " chains of kernels: " << fusions << " fusions, " << count_passes(fused)
            << " of them of a reduction and its elements\n";
  CHECK(fusions > cases / 2);
  CHECK(count_passes(fused) > cases / 8);
}
