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

/// For each move of an operation, the given tensors (destinations first) that its destination and sources are
/// parts of: of a concatenation all destinations are parts of one tensor.
using MoveTensors = std::array<std::uint32_t, max_operands>;
[[nodiscard]] std::vector<MoveTensors> tensors_of_moves(const Operation& operation);

/// The operation on the same tensors at other addresses. Throws Error{invalid_argument} if there are not as
/// many addresses as tensors were given.
[[nodiscard]] Operation moved_to(const TensorAddresses& addresses, Operation operation);

/// Where one of an operation's tensors reaches from its address, in bytes.
struct TensorReach {
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};  ///< `above` of a tensor without elements
  DevicePtr planned = 0;
  std::uint64_t below = 0;  ///< before the address
  std::uint64_t above = 0;  ///< behind it, without the first
  [[nodiscard]] bool empty() const noexcept { return above == nowhere; }
};

/// Reaches of the destinations, then of the sources.
[[nodiscard]] std::vector<TensorReach> reaches_of(const Operation& operation);

/// How new addresses of an operation's tensors lie to each other.
enum class Placement : std::uint8_t {
  unsure,      ///< some may overlap
  as_planned,  ///< tensors whose ranges of bytes meet have the planned relative offsets
  apart,       ///< no range of one that is written meets another's
};

/// The launches of an operation whose tensors lie as `base` does but for multiples of `alignment_unit` bytes,
/// and whose sources interleave with destinations only where they do there: kernels are chosen by nothing
/// else of an address. Never changes once it is made. All that launching reads
/// stands in one piece of memory: this, the tensors, then the image of each launch.
class alignas(cache_line) PlacedLaunches : public WithBytesBehind<PlacedLaunches> {
 public:
  static constexpr DevicePtr alignment_unit = 16;

  /// Makes the launches of the moves that move anything, with their plans and kernels. `reaches` are those of
  /// the operation as it was first planned.
  [[nodiscard]] static std::unique_ptr<PlacedLaunches> make(const Operation& operation,
                                                            std::span<const TensorReach> reaches,
                                                            std::span<const KernelPlan> plans,
                                                            std::span<const Kernel> kernels);
  PlacedLaunches(const PlacedLaunches&) = delete;
  PlacedLaunches& operator=(const PlacedLaunches&) = delete;
  ~PlacedLaunches() = default;

  [[nodiscard]] bool counts(const TensorAddresses& addresses) const noexcept {
    return addresses.destinations.size() == written_ && addresses.size() == tensors_;
  }
  [[nodiscard]] bool suits(const TensorAddresses& addresses, Placement placement) const noexcept {
    DevicePtr differences = 0;
    std::size_t t = 0;
    for (const PlacedTensor& tensor : tensors()) differences |= addresses[t++] - tensor.base;
    return differences % alignment_unit == 0 && (placement == Placement::apart || stay_apart(addresses));
  }
  /// Without a search. Unless it is unsure these addresses are legal: what lies to each other as it was
  /// planned was found legal then.
  [[nodiscard]] Placement placement(const TensorAddresses& addresses) const noexcept;
  /// Enqueues them on addresses that suit. Allocates nothing.
  void operator()(const TensorAddresses& addresses, Stream stream) const { launch(addresses, stream); }
  /// Enqueues them where the operation was first planned, if these are the launches of that place.
  void as_planned(Stream stream) const {
    prefetch();
    launch(Planned{tensors().data()}, stream);
  }

 private:
  friend class LaunchesByAlignment;
  struct PlacedTensor {
    TensorReach reach;
    DevicePtr base;
  };
  struct Planned {
    const PlacedTensor* tensors;
    DevicePtr operator[](std::size_t tensor) const noexcept { return tensors[tensor].reach.planned; }
  };
  struct Step;
  /// A source of a move that does not interleave with its destination: with these bytes at `base`, its kernel
  /// may load what lies between its elements.
  struct ApartPair {
    std::uint32_t written = 0;  ///< the tensors that they are parts of
    std::uint32_t read = 0;
    ByteRange destination;
    ByteRange source;
  };
  [[nodiscard]] bool stay_apart(const TensorAddresses& addresses) const noexcept;

  PlacedLaunches(const Operation& operation, std::span<const TensorReach> reaches,
                 std::span<const Step> steps);
  /// Has the memory that launching reads come while other things are looked at.
  void prefetch() const noexcept {
    constexpr std::uint32_t most = 7 * cache_line;  // one launch; further launches are read in their turn
    for (std::uint32_t at = cache_line; at <= most; at += cache_line) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + at);
    }
  }
  template <class Addresses>
  void launch(const Addresses& addresses, Stream stream) const {
    const LaunchImage* image = images();
    for (std::uint32_t i = 0; i < steps_; ++i) {
      (*image)(addresses, stream);
      image = &image->next();
    }
  }
  [[nodiscard]] std::span<const PlacedTensor> tensors() const noexcept {
    return {reinterpret_cast<const PlacedTensor*>(behind()), tensors_};
  }
  [[nodiscard]] const LaunchImage* images() const noexcept {
    return reinterpret_cast<const LaunchImage*>(behind() + tensors_ * sizeof(PlacedTensor));
  }

  const PlacedLaunches* next_ = nullptr;
  std::uint32_t tensors_;
  std::uint32_t written_;  ///< destinations
  std::uint32_t steps_;
  std::vector<std::shared_ptr<const KernelState>> kernels_;
  std::vector<ApartPair> apart_;
};

/// Launches of one operation for each class of alignment, and of what interleaves, that it has met. Readers
/// take no lock, and writers leave none behind in a process that forks.
class LaunchesByAlignment {
 public:
  /// Finding one among more takes as long as planning.
  static constexpr std::uint32_t most_classes = 256;

  LaunchesByAlignment() = default;
  ~LaunchesByAlignment();
  LaunchesByAlignment(const LaunchesByAlignment&) = delete;
  LaunchesByAlignment& operator=(const LaunchesByAlignment&) = delete;

  /// Those that suit as many addresses as there are tensors, where these surely do not overlap; null if there
  /// are none.
  [[nodiscard]] const PlacedLaunches* find(const TensorAddresses& addresses) const noexcept {
    const PlacedLaunches* newest = newest_.load(std::memory_order_acquire);
    if (newest == nullptr) return nullptr;
    newest->prefetch();
    if (!newest->counts(addresses)) return nullptr;
    const Placement placement = newest->placement(addresses);  // as of all of them
    return placement == Placement::unsure ? nullptr : first_that_suits(newest, addresses, placement);
  }
  /// Finds launches for addresses that were found not to overlap, as many as there are tensors.
  [[nodiscard]] const PlacedLaunches* find_legal(const TensorAddresses& addresses) const noexcept {
    return first_that_suits(newest_.load(std::memory_order_acquire), addresses, Placement::unsure);
  }
  /// Adds launches, and returns where they are kept.
  const PlacedLaunches& add(std::unique_ptr<PlacedLaunches> launches);
  /// Whether there are `most_classes`, and no more should be kept.
  [[nodiscard]] bool full() const noexcept { return count_.load(std::memory_order_relaxed) >= most_classes; }

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
  Placement placement = Placement::apart;
  const std::span<const PlacedTensor> all = tensors();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TensorReach& reach = all[i].reach;
    const DevicePtr address = addresses[i];
    if (reach.empty()) continue;
    if (address <= reach.below || address + reach.above < address)
      return Placement::unsure;  // null, or it wraps
    for (std::size_t j = 0; j < std::min<std::size_t>(i, written_); ++j) {
      const TensorReach& other = all[j].reach;
      if (other.empty()) continue;
      const bool apart = address + reach.above < addresses[j] - other.below ||
                         addresses[j] + other.above < address - reach.below;
      if (apart) continue;
      if (addresses[j] - other.planned != address - reach.planned) return Placement::unsure;
      placement = Placement::as_planned;
    }
  }
  return placement;
}

TMAJIT_END
