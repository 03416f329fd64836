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
#include <iterator>
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
        text += " \"" + what->expression + "\", epilogue \"" + what->epilogue + '"';
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

/// The operations that are fused, in their order: "map, gather". A map of coordinates is called "map of g",
/// and rows with several destinations "several rowwise".
std::set<std::string> fused_pairs(const RandomChain& chain, const Fusion& fusion) {
  const std::regex pattern("operation ([0-9]+) .* is fused into operation ([0-9]+) .*");
  const auto name_of = [&](const std::string& number) {
    const Operation& operation = chain.operations.at(std::stoul(number));
    const Move& move = operation.moves.front();
    std::string text = std::visit([](const auto& body) { return std::string(body.operation); }, move.body);
    const auto* const map = std::get_if<Map>(&move.body);
    if (map != nullptr && map->expression.find("g[") != std::string::npos) text += " of g";
    return (operation.destinations.size() > 1 ? "several " : "") + text;
  };
  std::set<std::string> pairs;
  for (const std::string& sentence : fusion.sentences) {
    std::smatch found;
    if (!std::regex_match(sentence, found, pattern)) continue;
    const bool is_first = std::stoul(found[1]) < std::stoul(found[2]);
    pairs.insert(name_of(found[is_first ? 1 : 2]) + ", " + name_of(found[is_first ? 2 : 1]));
  }
  return pairs;
}

/// The pairs of `expected` that were never fused.
std::set<std::string> never_fused(const std::set<std::string>& fused, const std::set<std::string>& expected) {
  std::set<std::string> missing;
  std::ranges::set_difference(expected, fused, std::inserter(missing, missing.end()));
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
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 4000);
  std::uint64_t fused_operations = 0;
  std::set<std::string> fused;
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
    fused_operations += chain.operations.size() - fusion.operations.size();
    fused.merge(fused_pairs(chain, fusion));
  }
  CHECK(fused_operations > cases / 3);
  // A few cases need not have all pairs.
  const std::set<std::string> expected{
      "copy, gather",         "gather, map", "map of g, map",
      "map of g, pad",        "map, gather", "map, map",
      "map, map of g",        "map, pad",    "map, reduce",
      "map, rowwise",         "map, scan",   "map, several rowwise",
      "reduce, map",          "reduce, pad", "rowwise, map",
      "rowwise, pad",         "scan, pad",   "several rowwise, pad",
      "several rowwise, map",
  };
  if (cases >= 1000) CHECK(never_fused(fused, expected) == std::set<std::string>{});
}

TEST_CASE("random chains: the kernels of the fused operations give the bits of the separate ones") {
  const std::uint64_t seed = tests::seed(20261130);
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 40);
  const std::shared_ptr<Device> device = make_sim_device({.seed = seed});
  const Runtime runtime(
      {.device = device, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_alone});
  std::uint64_t fused_operations = 0;
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
    fused_operations += chain.operations.size() - fusion.operations.size();
  }
  CHECK(fused_operations > cases / 4);
}
