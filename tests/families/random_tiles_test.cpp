#include "families/list.hpp"
#include "families/tiles.hpp"
#include "families/tiles/tile_family.hpp"
#include "reference/random_maps.hpp"

#include <cstring>
#include <type_traits>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace reference;

namespace {

/// A value of random bytes, half of the time of small ones.
template <typename T>
T noise(Random& random) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::array<std::byte, sizeof(T)> bytes;
  for (auto& byte : bytes) byte = static_cast<std::byte>(between(random, 0, one_in(random, 2) ? 8 : 255));
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof(T));
  return value;
}

std::string noise_text(Random& random) {
  std::string text(between(random, 0, 4), ' ');
  for (char& c : text) c = static_cast<char>(between(random, 0, 255));
  return text;
}

std::vector<const TileFamily*> tile_families() {
  std::vector<const TileFamily*> found;
  for (const Family* family : all_families()) {
    if (const auto* tiles = dynamic_cast<const TileFamily*>(family)) found.push_back(tiles);
  }
  return found;
}

}  // namespace

TEST_CASE("random bytes as a spec crash neither the rules nor the layouts of any tile family") {
  const auto seed_used = seed(3);
  Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  for (const TileFamily* family : tile_families()) {
    for (int i = 0; i < 10000; ++i) {
      TileSpec spec;
      static_cast<TileFacts&>(spec) = noise<TileFacts>(random);
      // Half of the specs pass the first checks, so that later checks run, too.
      if (one_in(random, 2))
        spec.rank = static_cast<std::uint8_t>(between(random, 1, family->traits().max_rank));
      if (one_in(random, 2))
        spec.inputs = static_cast<std::uint8_t>(between(random, 1, family->traits().max_inputs));
      spec.traits = &family->traits();
      spec.expression = noise_text(random);
      spec.l2_promotion = noise<L2Promotion>(random);
      spec.oob_fill = noise<OobFill>(random);
      std::vector<Tensor> tensors(spec.inputs < 9 && !one_in(random, 8) ? spec.inputs + 1U
                                                                        : between(random, 0, 3));
      for (Tensor& tensor : tensors) {
        tensor = {noise<TensorView>(random), noise<DevicePtr>(random)};
        if (one_in(random, 2)) tensor.view.rank = spec.rank;
        if (one_in(random, 2)) tensor.view.type = spec.operands[0].type;
      }
      Violations violations;
      check_tiles(spec, tensors, violations);
      REQUIRE(complete(violations.take()));
      REQUIRE(shared_layout(spec).bytes >= 1024);
      REQUIRE(launch_shared_bytes(spec) >= 1024);
    }
  }
}
