#pragma once

#include "runtime/plan_launch.hpp"
#include "spec/overlap.hpp"

#include <tmajit/operation.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// Addresses of the tensors that an operation was given: its destinations, then its sources.
struct TensorAddresses {
  std::span<const DevicePtr> destinations;
  std::span<const DevicePtr> sources;
  [[nodiscard]] std::size_t size() const noexcept { return destinations.size() + sources.size(); }
  [[nodiscard]] DevicePtr operator[](std::size_t tensor) const noexcept {
    return tensor < destinations.size() ? destinations[tensor] : sources[tensor - destinations.size()];
  }
};

/// Whether each move reads all of the operation's sources.
[[nodiscard]] bool shares_sources(const Operation& operation);
/// For a move: the numbers of the operation's tensors (destinations first) of which the move's destination
/// and sources are parts, or Operation::own_number. In a concatenation, the destinations of all moves are
/// parts of one tensor.
using MoveTensors = std::array<std::uint32_t, max_operands>;
[[nodiscard]] std::vector<MoveTensors> tensors_of_moves(const Operation& operation);

/// The operation on the same tensors at other addresses. Throws Error{invalid_argument} if there are not as
/// many addresses as tensors were given.
[[nodiscard]] Operation moved_to(const TensorAddresses& addresses, Operation operation);

/// The planned address of one of an operation's tensors, and the bytes that the tensor spans around it.
struct TensorReach {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};  ///< `above` of a tensor without elements
  DevicePtr planned = 0;
  std::uint64_t below = 0;  ///< bytes from the tensor's first byte to the address
  std::uint64_t above = 0;  ///< bytes from the address to the tensor's last byte
  [[nodiscard]] bool empty() const noexcept { return above == nowhere; }
};

/// Reaches of the destinations, then of the sources.
[[nodiscard]] std::vector<TensorReach> reaches_of(const Operation& operation);

/// How the byte ranges of an operation's tensors relate at new addresses.
enum class Placement : std::uint8_t {
  unsure,      ///< some tensors may overlap
  as_planned,  ///< tensors whose byte ranges intersect have their planned relative offsets
  disjoint,    ///< no destination's byte range intersects another tensor's
};

/// The launches of an operation for one class of addresses. All addresses of a class differ from the
/// addresses for which the launches were made, PlacedTensor::base, by multiples of `alignment_unit` bytes. A
/// source interleaves with a destination only if it does so at `base`. The choice of kernels depends on
/// nothing else about addresses. Immutable. Everything that a launch reads is contiguous in memory: this
/// object, the tensors, then the image of each launch.
class alignas(cache_line) PlacedLaunches : public WithTrailingBytes<PlacedLaunches> {
 public:
  static constexpr DevicePtr alignment_unit = 16;

  /// Makes the launches of the moves that are not empty, with their plans and kernels. `reaches` belongs to
  /// the operation at the addresses for which the plan was made first.
  [[nodiscard]] static std::unique_ptr<PlacedLaunches> make(const Operation& operation,
                                                            std::span<const TensorReach> reaches,
                                                            std::span<const KernelPlan> plans,
                                                            std::span<const Kernel> kernels);
  PlacedLaunches(const PlacedLaunches&) = delete;
  PlacedLaunches& operator=(const PlacedLaunches&) = delete;
  ~PlacedLaunches() = default;

  /// Whether there is one address for each tensor.
  [[nodiscard]] bool has_count(const TensorAddresses& addresses) const noexcept {
    return addresses.destinations.size() == destination_count_ && addresses.size() == tensor_count_;
  }
  /// Whether these addresses, whose placement() is given, belong to the launches' class.
  [[nodiscard]] bool suits(const TensorAddresses& addresses, Placement placement) const noexcept {
    DevicePtr differences = 0;
    std::size_t t = 0;
    for (const PlacedTensor& tensor : tensors())
      differences |= (addresses[t++] - tensor.base) & tensor.alignment;
    return differences == 0 && (placement == Placement::disjoint || are_separate(addresses));
  }
  /// Addresses with a result other than `unsure` are legal: relative offsets as planned were checked when the
  /// plan was made.
  [[nodiscard]] Placement placement(const TensorAddresses& addresses) const noexcept;
  /// Enqueues the launches on addresses for which suits() is true. Allocates nothing.
  void operator()(const TensorAddresses& addresses, Stream stream) const { launch(addresses, stream); }
  /// Enqueues the launches on the planned addresses. Only for launches that were made for these.
  void as_planned(Stream stream) const {
    prefetch();
    launch(Planned{tensors().data()}, stream);
  }

 private:
  friend class LaunchesByAlignment;
  struct PlacedTensor {
    TensorReach reach;
    DevicePtr base;
    DevicePtr alignment;  ///< the bits of the address in which it must agree with `base`; none for a number
  };
  struct Planned {
    const PlacedTensor* tensors;
    DevicePtr operator[](std::size_t tensor) const noexcept { return tensors[tensor].reach.planned; }
  };
  struct Step;
  /// A source of a move that does not interleave with the move's destination. The move's kernel may therefore
  /// load bytes between the source's elements, which must not be part of the destination.
  struct SeparatePair {
    std::uint32_t written = 0;  ///< number of the tensor that the destination is part of
    std::uint32_t read = 0;     ///< number of the tensor that the source is part of
    ByteRange destination;      ///< at `base`
    ByteRange source;           ///< at `base`
  };
  [[nodiscard]] bool are_separate(const TensorAddresses& addresses) const noexcept;

  PlacedLaunches(const Operation& operation, std::span<const TensorReach> reaches,
                 std::span<const Step> steps);
  /// Prefetches the memory that a launch reads, while the addresses are checked.
  void prefetch() const noexcept {
    constexpr std::uint32_t most = 7 * cache_line;  // enough for one launch
    for (std::uint32_t at = cache_line; at <= most; at += cache_line) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + at);
    }
  }
  template <class Addresses>
  void launch(const Addresses& addresses, Stream stream) const {
    const LaunchImage* image = images();
    for (std::uint32_t i = 0; i < launch_count_; ++i) {
      (*image)(addresses, stream);
      image = &image->next();
    }
  }
  [[nodiscard]] std::span<const PlacedTensor> tensors() const noexcept {
    return {reinterpret_cast<const PlacedTensor*>(trailing_bytes()), tensor_count_};
  }
  [[nodiscard]] const LaunchImage* images() const noexcept {
    return reinterpret_cast<const LaunchImage*>(trailing_bytes() + tensor_count_ * sizeof(PlacedTensor));
  }

  const PlacedLaunches* next_ = nullptr;
  std::uint32_t tensor_count_;
  std::uint32_t destination_count_;
  std::uint32_t launch_count_;
  std::vector<std::shared_ptr<const KernelState>> kernels_;
  std::vector<SeparatePair> separate_pairs_;
};

/// The launches of one operation for each class of addresses that it has met (see PlacedLaunches). Neither
/// readers nor writers take a lock, so that a fork cannot leave one locked.
class LaunchesByAlignment {
 public:
  /// A linear search among more classes takes as long as planning.
  static constexpr std::uint32_t max_classes = 256;

  LaunchesByAlignment() = default;
  ~LaunchesByAlignment();
  LaunchesByAlignment(const LaunchesByAlignment&) = delete;
  LaunchesByAlignment& operator=(const LaunchesByAlignment&) = delete;

  /// The launches for these addresses, if there is one address for each tensor and no tensors can overlap;
  /// else null.
  [[nodiscard]] const PlacedLaunches* find(const TensorAddresses& addresses) const noexcept {
    const PlacedLaunches* newest = newest_.load(std::memory_order_acquire);
    if (newest == nullptr) return nullptr;
    newest->prefetch();
    if (!newest->has_count(addresses)) return nullptr;
    const Placement placement = newest->placement(addresses);  // the same for all classes
    return placement == Placement::unsure ? nullptr : first_that_suits(newest, addresses, placement);
  }
  /// The launches for addresses that were checked: one for each tensor, without overlap. Null if there are
  /// none.
  [[nodiscard]] const PlacedLaunches* find_legal(const TensorAddresses& addresses) const noexcept {
    return first_that_suits(newest_.load(std::memory_order_acquire), addresses, Placement::unsure);
  }
  /// Adds launches and returns a reference to them.
  const PlacedLaunches& add(std::unique_ptr<PlacedLaunches> launches);
  /// Adds launches for a class of addresses that has some already. Later calls find the new ones.
  const PlacedLaunches& replace(std::unique_ptr<PlacedLaunches> launches);
  /// Whether there are `max_classes`, so that no more should be added.
  [[nodiscard]] bool full() const noexcept { return count_.load(std::memory_order_relaxed) >= max_classes; }

 private:
  static const PlacedLaunches* first_that_suits(const PlacedLaunches* launches,
                                                const TensorAddresses& addresses,
                                                Placement placement) noexcept {
    while (launches != nullptr && !launches->suits(addresses, placement)) launches = launches->next_;
    return launches;
  }

  std::atomic<const PlacedLaunches*> newest_{nullptr};
  std::atomic<std::uint32_t> count_{0};
};

inline Placement PlacedLaunches::placement(const TensorAddresses& addresses) const noexcept {
  Placement placement = Placement::disjoint;
  const std::span<const PlacedTensor> all = tensors();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TensorReach& reach = all[i].reach;
    const DevicePtr address = addresses[i];
    if (reach.empty()) continue;
    if (address <= reach.below || address + reach.above < address)
      return Placement::unsure;  // a null pointer, or the range wraps
    for (std::size_t j = 0; j < std::min<std::size_t>(i, destination_count_); ++j) {
      const TensorReach& other = all[j].reach;
      if (other.empty()) continue;
      const bool disjoint = address + reach.above < addresses[j] - other.below ||
                            addresses[j] + other.above < address - reach.below;
      if (disjoint) continue;
      if (addresses[j] - other.planned != address - reach.planned) return Placement::unsure;
      placement = Placement::as_planned;
    }
  }
  return placement;
}

TMAJIT_END
