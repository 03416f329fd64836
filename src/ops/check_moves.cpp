#include "ops/check_moves.hpp"

#include "ops/views.hpp"
#include "plan/canonical.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t most_extent = 1ULL << 62;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::invalid_argument, what);
}

/// Names of a move's tensors, for errors.
class Names {
 public:
  Names(std::span<const Move> moves, std::size_t index) : moves_(moves), index_(index) {}
  [[nodiscard]] std::string destination() const { return destination_name(moves_, index_); }
  [[nodiscard]] std::string source(std::size_t k) const { return source_name(moves_, index_, k); }

 private:
  std::span<const Move> moves_;
  std::size_t index_;
};

/// `name` is a function, as a name is only made for an error.
template <typename Name>
void check_address(const TensorView& view, DevicePtr address, const Name& name) {
  const std::uint32_t size = size_of(view.type);
  if ((address != 0 && address % size == 0) || view.elements() == 0) return;
  if (address == 0) refuse(fmt::format("{} has the address 0", name()));
  refuse(fmt::format("{} lies at {:#x}, which is no multiple of its elements' {} bytes; {:#x} is", name(),
                     address, size, address - address % size));
}

/// Offsets are computed in 64 bits: no extent and no sum of steps may come near their end. Addresses have far
/// fewer.
template <typename Name>
void check_reach(const TensorView& view, const Name& name) {
  std::uint64_t bytes = size_of(view.type);
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    const std::int64_t stride = view.strides[d];
    const std::uint64_t step = stride < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(stride)
                                          : static_cast<std::uint64_t>(stride);
    const std::uint64_t steps = std::max<std::uint64_t>(view.shape[d], 2) - 1;
    bytes = sat_add(bytes, sat_mul(sat_mul(step, steps), size_of(view.type)));
    if (view.shape[d] <= most_extent && bytes <= most_extent) continue;
    refuse(
        fmt::format("{} has {} elements with stride {} in dimension {}; a tensor has at most 2^62 of them, "
                    "and reaches over at most 2^62 bytes",
                    name(), view.shape[d], stride, d));
  }
}

template <typename Name>
void check_tensor(const Tensor& tensor, const Name& name) {
  if (!is_known(tensor.view.type)) {
    refuse(fmt::format("{} has the unknown element type number {}", name(),
                       static_cast<unsigned>(tensor.view.type)));
  }
  if (tensor.view.rank > max_view_rank) static_cast<void>(extents(tensor.view, name()));
  check_reach(tensor.view, name);
  check_address(tensor.view, tensor.address, name);
}

void check_same_shape(const Tensor& destination, const Tensor& source, const Names& names, std::size_t k) {
  const auto to = extents(destination.view, "the destination");
  const auto from = extents(source.view, "the source");
  if (std::ranges::equal(to, from)) return;
  const std::string where = [&] {
    if (to.size() != from.size())
      return fmt::format("it has {} dimensions instead of {}", from.size(), to.size());
    const auto d = static_cast<std::size_t>(std::ranges::mismatch(to, from).in1 - to.begin());
    return fmt::format("dimension {} has {} elements instead of {}", d, source.view.shape[d],
                       destination.view.shape[d]);
  }();
  refuse(fmt::format("{} has the shape {}, {} {}: {}; broadcast or slice one of them", names.source(k),
                     shape_text(from), names.destination(), shape_text(to), where));
}

void check_padding(const Move& move, const Names& names) {
  const std::uint32_t rank = move.destination.view.rank;
  if (move.sources.size() != 1 || !move.expression.empty()) {
    refuse(fmt::format("a padding with {}; a padded move has one source and no expression",
                       move.expression.empty() ? fmt::format("{} sources", move.sources.size())
                                               : fmt::format("the expression \"{}\"", move.expression)));
  }
  if (move.sources.front().view.rank != rank) {
    refuse(fmt::format("{} has {} dimensions, {} {}; a padded move needs as many", names.source(0),
                       move.sources.front().view.rank, names.destination(), rank));
  }
  const auto& before = move.padding->before;
  if (before.size() != rank) {
    refuse(fmt::format("a padding of {} numbers for {} dimensions; one a dimension is needed", before.size(),
                       rank));
  }
  for (std::uint32_t d = 0; d < rank; ++d) {
    constexpr auto most = static_cast<std::int64_t>(most_extent);
    if (before[d] > most || before[d] < -most) {
      refuse(fmt::format("a padding of {} before dimension {}; 2^62 is the most", before[d], d));
    }
  }
}

void check_move(const Move& move, const Names& names) {
  check_tensor(move.destination, [&] { return names.destination(); });
  for (std::size_t k = 0; k < move.sources.size(); ++k) {
    check_tensor(move.sources[k], [&] { return names.source(k); });
  }
  if (move.sources.empty() || move.sources.size() >= max_operands) {
    refuse(fmt::format("{} sources of {}; 1 to {} are possible", move.sources.size(), names.destination(),
                       max_operands - 1));
  }
  if (move.expression.empty()) {
    const ElementType to = move.destination.view.type;
    const ElementType from = move.sources.front().view.type;
    if (move.sources.size() != 1) {
      refuse(
          fmt::format("{} sources of {} and no expression; one source is moved as it is, several need an "
                      "expression such as \"x0 + x1\"",
                      move.sources.size(), names.destination()));
    }
    if (size_of(to) != size_of(from)) {
      refuse(fmt::format(
          "{} has elements of {} bytes ({}), {} of {} ({}); bits are moved as they are between "
          "types of one size, and converted by a cast or a map",
          names.source(0), size_of(from), name(from), names.destination(), size_of(to), name(to)));
    }
  }
  if (move.padding) return check_padding(move, names);
  for (std::size_t k = 0; k < move.sources.size(); ++k) {
    check_same_shape(move.destination, move.sources[k], names, k);
  }
}

}  // namespace

void check_addresses(std::span<const Move> moves, std::span<const DevicePtr> destinations,
                     std::span<const DevicePtr> sources) {
  std::size_t source = 0;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Names names(moves, i);
    check_address(moves[i].destination.view, destinations[i], [&] { return names.destination(); });
    for (std::size_t k = 0; k < moves[i].sources.size(); ++k) {
      check_address(moves[i].sources[k].view, sources[source++], [&] { return names.source(k); });
    }
  }
}

void check_moves(std::span<const Move> moves) {
  for (std::size_t i = 0; i < moves.size(); ++i) check_move(moves[i], Names(moves, i));
}

TMAJIT_END
