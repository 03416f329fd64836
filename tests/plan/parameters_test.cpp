/// The description of a kernel's parameters: their offsets, and the addresses that change for a launch on
/// other memory.
#include "kernel/launch_image.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"
#include "runtime/fake_device.hpp"
#include "spec/inside.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tiles.hpp>

#include <array>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

struct alignas(16) Wide {
  std::uint64_t first;
  std::uint64_t address;
};

template <class T>
T at(const ParameterBlock& block, std::uint32_t offset) {
  T value;
  std::memcpy(&value, block.bytes().subspan(offset).data(), sizeof value);
  return value;
}

TensorMapSpec some_map() {
  return TensorMapSpec{};
}

/// A launch image of a parameter block.
class Image {
 public:
  Image(const ParameterBlock& block, FakeDevice& device, std::size_t operands)
      : kernel_(device.kernels().load({})), memory_(LaunchImage::bytes_for(block) / 8) {
    std::vector<LaunchImage::Part> parts(operands);
    for (std::uint32_t i = 0; i < operands; ++i) parts[i].tensor = i;
    image_ = &LaunchImage::write(memory_.data(), block, {}, parts, {*kernel_, device.maps()});
    CHECK(reinterpret_cast<const std::uint64_t*>(&image_->next()) == memory_.data() + memory_.size());
    device.encoded.clear();
  }
  /// The parameters after operand i has moved by distances[i] bytes.
  [[nodiscard]] std::span<void* const> moved(const std::vector<DevicePtr>& distances) {
    return image_->parameters(distances, launch);
  }

  LaunchImage::Parameters launch;

 private:
  std::unique_ptr<LoadedKernel> kernel_;
  std::vector<std::uint64_t> memory_;
  const LaunchImage* image_ = nullptr;
};

/// Checks that the launch of `plan`, with operands moved by `distances`, has the parameters of `expected`,
/// which was planned at the new addresses.
void check_moved(const KernelPlan& plan, const KernelPlan& expected,
                 const std::vector<DevicePtr>& distances) {
  INFO(plan.choice().text());
  REQUIRE(plan.key() == expected.key());
  const ParameterBlock& there = Inside::state(expected)->parameters;
  FakeDevice device;
  Image image(Inside::state(plan)->parameters, device, distances.size());
  const auto pointers = image.moved(distances);
  REQUIRE(pointers.size() == there.entries().size());
  std::vector<bool> is_map(pointers.size());
  std::size_t next = 0;
  for (const ParameterBlock::TensorMapSlot& map : there.maps()) {
    is_map[map.entry] = true;
    if (distances[map.operand] == 0) continue;
    REQUIRE(next < device.encoded.size());
    CHECK(device.encoded[next].address == map.address);
    CHECK(device.encoded[next++].spec == map.spec);
  }
  CHECK(next == device.encoded.size());
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const ParameterBlock::Entry& entry = there.entries()[i];
    CHECK(pointers[i] == &image.launch.bytes[entry.offset]);
    if (!is_map[i]) CHECK(std::memcmp(pointers[i], &there.bytes()[entry.offset], entry.bytes) == 0);
  }
}

}  // namespace

TEST_CASE("each parameter is placed after the previous one, at a multiple of its alignment") {
  ParameterBlock block;
  CHECK(block.bytes().empty());
  CHECK(block.add({"u32"}, "count", std::uint32_t{7}) == 0);
  CHECK(block.add({"params::Wide"}, "wide", Wide{1, 0x1000}) == 16);
  CHECK(block.add({"u8"}, "small", std::uint8_t{9}) == 32);
  block.add_map("source", 1, some_map(), 0x2000);
  block.add_pointer({.name = "f32", .pointer = Pointer::to_const}, "in", 1, 0x3000);
  const auto entries = block.entries();
  REQUIRE(entries.size() == 5);
  CHECK(entries[3].name == "source");
  CHECK(entries[3].offset % alignof(EncodedTensorMap) == 0);
  CHECK(entries[3].bytes == sizeof(EncodedTensorMap));
  CHECK(entries[4].offset == entries[3].offset + sizeof(EncodedTensorMap));
  CHECK(entries[4].bytes == 8);
  CHECK(block.bytes().size() == entries[4].offset + 8);
  CHECK(at<std::uint32_t>(block, 0) == 7);
  CHECK(at<Wide>(block, 16).address == 0x1000);
  CHECK(at<std::uint8_t>(block, 32) == 9);
  CHECK(at<DevicePtr>(block, entries[4].offset) == 0x3000);
  REQUIRE(block.maps().size() == 1);
  CHECK(block.maps()[0].entry == 3);
  CHECK(block.maps()[0].operand == 1);

  FakeDevice device;
  Image image(block, device, 2);
  const auto pointers = image.moved({0, 0});
  REQUIRE(pointers.size() == entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    CHECK(static_cast<const std::byte*>(pointers[i]) == image.launch.bytes.data() + entries[i].offset);
  }
  CHECK(reinterpret_cast<std::uintptr_t>(pointers[3]) % 64 == 0);  // the alignment of tensor maps
}

TEST_CASE("parameter types have the text that the generated source uses") {
  CHECK(ParameterType{"u64"}.text("tmajit::") == "tmajit::u64");
  CHECK(ParameterType{"params::ViewPair", 2}.text() == "params::ViewPair<2>");
  CHECK(ParameterType{"params::Views", 3, 2}.text("tmajit::") == "tmajit::params::Views<3, 2>");
  CHECK(ParameterType{.name = "f32", .pointer = Pointer::to_const}.text("tmajit::") == "const tmajit::f32*");
  CHECK(ParameterType{.name = "u8", .pointer = Pointer::to}.text() == "u8*");
}

TEST_CASE("moving an operand changes all its addresses and no other parameter") {
  ParameterBlock block;
  const std::uint32_t wide = block.add({"params::Wide"}, "wide", Wide{0x1000, 0x1000});
  block.add_address(wide + 8, 2);
  block.add_map("a", 1, some_map(), 0x2000);
  block.add_map("b", 2, some_map(), 0x3000);
  block.add_pointer({.name = "u8", .pointer = Pointer::to}, "out", 0, 0x4000);
  FakeDevice device;
  Image image(block, device, 3);
  const auto pointers = image.moved({0 - DevicePtr{0x100}, 0, 0x10});
  Wide moved{};
  std::memcpy(&moved, pointers[0], sizeof moved);
  CHECK(moved.first == 0x1000);
  CHECK(moved.address == 0x1010);
  REQUIRE(device.encoded.size() == 1);  // the map of the other operand is not encoded again
  CHECK(device.encoded[0].address == 0x3010);
  DevicePtr out = 0;
  std::memcpy(&out, pointers[3], sizeof out);
  CHECK(out == 0x3f00);
}

TEST_CASE("adding more parameters than a block holds is an error") {
  ParameterBlock block;
  for (std::size_t i = 0; i < ParameterBlock::max_parameters; ++i) block.add({"u32"}, "n", std::uint32_t{0});
  CHECK_THROWS_AS(block.add({"u32"}, "n", std::uint32_t{0}), Error);
  ParameterBlock large;
  CHECK_THROWS_AS(large.add({"u32"}, "n", std::array<std::byte, ParameterBlock::max_bytes + 1>{}), Error);
  CHECK(large.bytes().empty());
}

TEST_CASE("launches of random moves at other addresses have the parameters of plans made there") {
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::map<std::string_view, int> families;
  for (std::uint64_t n = 0; n < 600; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    reference::Random random(seed + n);
    const Move move = tests::random_move(seed + n, 60);
    Move moved = move;
    // Distances of multiples of 16 bytes do not change the kernels. Each tensor has a distance of its own,
    // some negative.
    std::vector<DevicePtr> distances;
    for (std::size_t i = 0; i <= move.sources.size(); ++i) {
      distances.push_back(16 * reference::between(random, 0, 1 << 24) - (DevicePtr{1} << 27));
    }
    moved.destination.address += distances[0];
    for (std::size_t i = 0; i < move.sources.size(); ++i) moved.sources[i].address += distances[i + 1];
    const Problem here = make_problem(move);
    const Problem there = make_problem(moved);
    const std::vector<Candidate> candidates = tests::candidates_of(here);
    const std::vector<Candidate> others = tests::candidates_of(there);
    REQUIRE(candidates.size() == others.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      ++families[candidates[i].family->name()];
      check_moved(make_kernel_plan(candidates[i], here), make_kernel_plan(others[i], there), distances);
    }
  }
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    Move moved = move;
    std::vector<DevicePtr> distances(1 + move.sources.size(), 1 << 20);
    moved.destination.address += distances[0];
    for (Tensor& source : moved.sources) source.address += 1 << 20;
    const std::vector<KernelPlan> here = plan_candidates(move);
    const std::vector<KernelPlan> there = plan_candidates(moved);
    REQUIRE(here.size() == there.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      ++families[here[i].family().name];
      check_moved(here[i], there[i], distances);
    }
  }
  for (const auto& [family, count] : families) std::cout << "  " << family << ": " << count << '\n';
  CHECK(families.size() >= 7);
}

TEST_CASE("launches of the caller's tiles at other addresses have the parameters of plans made there") {
  for (const std::string_view family : {"copy", "map", "bulk", "snapshot"}) {
    INFO(family);
    const bool flat = family == "bulk";
    const tests::Shape shape = flat ? tests::Shape{10'001} : tests::Shape{100, 66};
    const TensorView view = flat ? TensorView::contiguous(ElementType::f32, shape)
                                 : TensorView::strided(ElementType::f32, shape, tests::Strides{68, 1});
    TileRequest request{.family = family,
                        .destination = {view, tests::destination_address},
                        .sources = {{view, tests::source_address}},
                        .expression = find_family(family).computes ? "x + 1" : ""};
    if (family == "snapshot") request.destination.view = destination_view(request);
    if (find_family(family).computes) {
      request.sources.push_back(number(0.5));
      request.expression = "x + p0";
    }
    const KernelPlan here = plan_tiles(request);
    request.destination.address += 1 << 20;
    request.sources[0].address -= 1 << 21;
    std::vector<DevicePtr> distances{DevicePtr{1} << 20, 0 - (DevicePtr{1} << 21)};
    if (request.sources.size() > 1) {
      // The bits of another number stand in place of an address.
      distances.push_back(number(7.0).address - request.sources[1].address);
      request.sources[1] = number(7.0);
    }
    check_moved(here, plan_tiles(request), distances);
  }
}
