#include "check.hpp"

#include "operations/references.hpp"
#include "planning.hpp"
#include "reference/expression.hpp"
#include "reference/scalar.hpp"
#include "repeated_memory.hpp"

#include <tmajit/box_layout.hpp>
#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {

/// A part of a move, computed in host memory.
struct ComputedPart {
  std::size_t move;  ///< index of the move in the operation
  reference::Part part;
  std::vector<double> allowed;  ///< allowed errors of its elements; empty: 0
};

namespace {

using reference::Part, reference::Index;

/// Limit for the elements that the host reads to check one case. Both ends are checked even beyond the limit.
constexpr std::uint64_t read_limit = 1ULL << 24;

std::uint64_t elements(const tmajit::TensorView& view) {
  return reference::element_count(view);
}

/// A part of about `count` elements: whole inner dimensions and a range of the next one. `position` selects
/// where the part begins: 0 is the beginning of the view, UINT64_MAX its end. Other numbers are split into
/// one digit for each dimension.
Part part_at(const tmajit::TensorView& view, std::uint64_t count, std::uint64_t position) {
  Part part = reference::whole(view);
  for (std::uint32_t d = view.rank; d-- > 0;) {
    const std::uint64_t extent = view.shape.at(d);
    part.count.at(d) = std::clamp<std::uint64_t>(count, 1, extent);
    const std::uint64_t rest = extent - part.count.at(d);
    part.first.at(d) = position == UINT64_MAX ? rest : position % (rest + 1);
    position = position == UINT64_MAX ? position : position / (rest + 1);
    count /= extent;
  }
  return part;
}

/// A copy of the device's memory from the first to the last element of a part of a destination.
class DeviceCopy {
 public:
  DeviceCopy(const tmajit::Tensor& destination, const Part& part, tmajit::Device& device,
             tmajit::DevicePtr offset, tmajit::Stream stream) {
    // With negative strides the first element is not the lowest in memory.
    std::int64_t highest = 0;
    std::int64_t lowest = 0;
    for (std::uint32_t d = 0; d < destination.view.rank; ++d) {
      const std::int64_t reach =
          static_cast<std::int64_t>(part.count.at(d) - 1) * destination.view.strides.at(d);
      (reach < 0 ? lowest : highest) += reach;
    }
    const std::int64_t begin = reference::offset_of(destination.view, part.first) + lowest;
    const auto size = static_cast<std::int64_t>(tmajit::size_of(destination.view.type));
    first_ = reference::element_at(destination, begin);
    bytes_.resize(static_cast<std::uint64_t>((highest - lowest + 1) * size));
    device.memory().copy_out(bytes_, reinterpret_cast<tmajit::DevicePtr>(first_) + offset, stream);
    device.streams().synchronize(stream);
  }
  /// The device's element that corresponds to the host's `element`.
  [[nodiscard]] const std::byte* at(const std::byte* element) const {
    return &bytes_[static_cast<std::size_t>(element - first_)];
  }

 private:
  const std::byte* first_ = nullptr;
  std::vector<std::byte> bytes_;
};

/// Compares a part of a move with the device's memory, `offset` bytes after the part's own address.
std::string compare(const tmajit::Move& move, const ComputedPart& computed, tmajit::Device& device,
                    tmajit::DevicePtr offset, tmajit::Stream stream) {
  const tmajit::Tensor& to = move.destination;
  const bool makes_values = reference::makes_values(move);
  const DeviceCopy found(to, computed.part, device, offset, stream);
  std::string wrong;
  std::size_t number = 0;
  reference::for_each_index(to.view.rank, computed.part, [&](const Index& index) {
    const double error = computed.allowed.empty() ? 0 : computed.allowed[number];
    ++number;
    const std::byte* const expected = reference::element_at(to, reference::offset_of(to.view, index));
    const std::byte* const actual = found.at(expected);
    if (!wrong.empty() || reference::is_right(to.view.type, makes_values, error, expected, actual)) return;
    wrong = fmt::format(
        "element ({}) is {} and should be {}", fmt::join(index.begin(), index.begin() + to.view.rank, ","),
        reference::bits_text(to.view.type, actual), reference::bits_text(to.view.type, expected));
  });
  return wrong;
}

/// Computes a part of move `number` over the same initial bytes as on the device.
ComputedPart compute(const tmajit::Move& move, std::size_t number, const Part& part) {
  const tmajit::Tensor& to = move.destination;
  reference::for_each_index(to.view.rank, part, [&](const Index& index) {
    std::fill_n(reference::element_at(to, reference::offset_of(to.view, index)),
                tmajit::size_of(to.view.type), poison);
  });
  reference::compute(move, part);
  return {number, part, reference::allowed_errors(move, part)};
}

/// Computes the parts to check: both ends of a move's destination and random parts, each of `part_elements`
/// elements, or all of a small destination.
void compute_parts(const tmajit::Move& move, std::size_t number, std::uint64_t seed,
                   std::uint64_t part_elements, std::vector<ComputedPart>& computed) {
  constexpr int random_parts = 14;
  constexpr std::uint64_t all_parts = random_parts + 2;
  const tmajit::TensorView& view = move.destination.view;
  if (elements(view) == 0 || !reference::understands(move)) return;
  const std::uint64_t all = reference::reads_of(move, reference::whole(view));
  if (elements(view) <= 32 * part_elements && all <= read_limit) {
    computed.push_back(compute(move, number, reference::whole(view)));
    return;
  }
  // Fewer elements are compared if each is computed from many source elements.
  const std::uint64_t reads = std::max<std::uint64_t>(all / elements(view), 1);
  const std::uint64_t count = std::clamp<std::uint64_t>(read_limit / all_parts / reads, 1, part_elements);
  std::vector<std::uint64_t> positions{0, UINT64_MAX};
  std::mt19937_64 random(seed);
  for (int i = 0; i < random_parts; ++i) positions.push_back(random());
  std::uint64_t reads_done = 0;
  for (std::size_t i = 0; i < positions.size() && (i < 2 || reads_done < read_limit); ++i) {
    const Part selected = part_at(view, count, positions[i]);
    computed.push_back(compute(move, number, selected));
    reads_done += reference::reads_of(move, selected);
  }
}

/// Checks about `byte_count` bytes of a snapshot, which holds the tiles in row-major order of their
/// positions, with zeros outside of the tensor: the last tile and random tiles.
std::string check_images(const Case& bench_case, const std::byte* source, tmajit::Device& device,
                         tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream,
                         std::uint64_t byte_count) {
  const tmajit::BoxLayout layout(bench_case.sources.front().type, bench_case.image);
  const Shape& shape = bench_case.sources.front().shape;
  const auto byte_of = [&](std::uint64_t tile, std::uint32_t byte) {
    const auto element = layout.element(byte);
    if (!element) return std::byte{0};
    const auto within = layout.index(*element);
    std::uint64_t source_offset = 0;
    std::uint64_t step = tmajit::size_of(bench_case.sources.front().type);
    for (std::size_t d = shape.size(); d-- > 0;) {
      const std::uint64_t tiles = (shape[d] + bench_case.image[d] - 1) / bench_case.image[d];
      const std::uint64_t at = tile % tiles * bench_case.image[d] + within.at(d);
      tile /= tiles;
      if (at >= shape[d]) return std::byte{0};
      source_offset += at * step;
      step *= shape[d];
    }
    return source[source_offset + byte - layout.offset_of(*element)];
  };
  const Shape& images = bench_case.destinations.front().shape;
  std::mt19937_64 random(seed);
  for (std::uint64_t checked_bytes = 0; checked_bytes < byte_count; checked_bytes += images[1]) {
    const std::uint64_t tile = checked_bytes == 0 ? images[0] - 1 : random() % images[0];
    std::vector<std::byte> found(images[1]);
    device.memory().copy_out(found, destination + tile * images[1], stream);
    device.streams().synchronize(stream);
    for (std::uint32_t byte = 0; byte < images[1]; ++byte) {
      if (found[byte] != byte_of(tile, byte)) return fmt::format("byte {} of tile {} is wrong", byte, tile);
    }
  }
  return {};
}

}  // namespace

struct Check::State {
  Case bench_case;
  std::uint64_t seed;
  std::uint64_t part_elements;
  RepeatedMemory sources;
  std::unique_ptr<std::byte[]> results = {};  // NOLINT: untouched pages take no memory
  tmajit::Operation operation = {};           ///< from sources to results
  std::vector<ComputedPart> computed = {};
};

Check::Check(const Case& bench_case, const reference::Pattern& pattern, std::uint64_t seed,
             std::uint64_t part_elements)
    : state_(new State{bench_case, seed, part_elements,
                       RepeatedMemory(pattern.period(), buffer_layout(bench_case.sources).bytes)}) {
  if (!bench_case.image.empty()) return;
  state_->results.reset(new std::byte[buffer_layout(bench_case.destinations).bytes]);
  state_->operation = operation_of(bench_case, reinterpret_cast<tmajit::DevicePtr>(state_->results.get()),
                                   reinterpret_cast<tmajit::DevicePtr>(state_->sources.data()));
  for (std::size_t i = 0; i < state_->operation.moves.size(); ++i)
    compute_parts(state_->operation.moves[i], i, seed + i, part_elements, state_->computed);
}
Check::~Check() = default;

std::string Check::wrong(tmajit::Device& device, tmajit::DevicePtr destination, tmajit::Stream stream) const {
  const State& state = *state_;
  if (!state.bench_case.image.empty())
    return check_images(state.bench_case, state.sources.data(), device, destination, state.seed, stream,
                        16 * state.part_elements);
  const auto host = reinterpret_cast<tmajit::DevicePtr>(state.results.get());
  for (const ComputedPart& one : state.computed) {
    const std::string wrong =
        compare(state.operation.moves[one.move], one, device, destination - host, stream);
    if (!wrong.empty())
      return state.operation.moves.size() == 1 ? wrong : fmt::format("part {}: {}", one.move, wrong);
  }
  return {};
}

void Check::require_right(tmajit::Device& device, tmajit::DevicePtr destination,
                          tmajit::Stream stream) const {
  const std::string found = wrong(device, destination, stream);
  if (!found.empty()) throw tmajit::Error(tmajit::ErrorCode::internal, found);
}

std::optional<double> tolerance(const Case& bench_case) {
  using tmajit::ElementType;
  const ElementType type = bench_case.destinations.front().type;
  if (!bench_case.image.empty() || tmajit::find_operation(bench_case.operation).moves_bits)
    return std::nullopt;
  const tmajit::Move move = operation_of(bench_case).moves.front();
  if (!reference::understands(move)) return std::nullopt;
  if (!tmajit::is_float(type)) return 0;
  if (bench_case.arguments.text("op") == "sum") {
    // The error grows with the number of summands, because the peer chooses the type in which it accumulates.
    const Part one = part_at(move.destination.view, 1, 0);
    const double rounding = type == ElementType::bf16 ? 8e-3 : 1e-6;
    return 2e-7 * static_cast<double>(reference::reads_of(move, one)) + rounding;
  }
  const auto expression = reference::Expression::parse(bench_case.library_expression());
  if (!expression || (expression->is_exact() && expression->offsets() == 0)) return 0;
  // A few roundings in the destination's type.
  switch (type) {
    case ElementType::f64: return 1e-14;
    case ElementType::f32: return 2e-6;
    case ElementType::bf16: return 1.0 / 128;
    default: return 1.0 / 8;
  }
}

}  // namespace bench
