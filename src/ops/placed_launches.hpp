#pragma once

#include "runtime/bound_launch.hpp"
#include "spec/overlap.hpp"

#include <tmajit/operation.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
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

/// How new addresses of an operation's tensors lie to each other.
enum class Placement : std::uint8_t {
  unsure,      ///< some may overlap
  as_planned,  ///< those whose ranges of bytes meet lie to each other as they were planned
  apart,       ///< no range of one that is written meets another's
};

/// The launches of an operation whose tensors lie as `base` does but for multiples of `alignment_unit` bytes,
/// and whose sources interleave with destinations only where they do there: kernels are chosen by nothing
/// else of an address. Never changes once it is made.
class PlacedLaunches {
 public:
  static constexpr DevicePtr alignment_unit = 16;

  /// Of the moves that move anything, with their plans and kernels.
  PlacedLaunches(const Operation& operation, std::span<const KernelPlan> plans,
                 std::span<const Kernel> kernels);

  [[nodiscard]] bool suits(const TensorAddresses& addresses, Placement placement) const noexcept;
  /// Enqueues them on addresses that suit. Allocates nothing.
  void operator()(const TensorAddresses& addresses, Stream stream) const;

 private:
  struct Step {
    BoundLaunch launch;
    MoveTensors tensor;
  };
  /// A source of a move that does not interleave with its destination: with these bytes at `base`, its kernel
  /// may load what lies between its elements.
  struct ApartPair {
    std::uint32_t written = 0;  ///< the tensors that they are parts of
    std::uint32_t read = 0;
    ByteRange destination;
    ByteRange source;
  };
  [[nodiscard]] bool stay_apart(const TensorAddresses& addresses) const noexcept;

  std::vector<DevicePtr> base_;
  std::vector<Step> steps_;
  std::vector<ApartPair> apart_;
};

/// Launches of one operation for each class of alignment, and of what interleaves, that it has met. Readers
/// take no lock, and writers leave none behind in a process that forks.
class LaunchesByAlignment {
 public:
  LaunchesByAlignment() = default;
  ~LaunchesByAlignment();
  LaunchesByAlignment(const LaunchesByAlignment&) = delete;
  LaunchesByAlignment& operator=(const LaunchesByAlignment&) = delete;

  /// Those that suit; null if there are none.
  [[nodiscard]] const PlacedLaunches* find(const TensorAddresses& addresses,
                                           Placement placement) const noexcept;
  /// Adds launches, and returns where they are kept.
  const PlacedLaunches& add(PlacedLaunches launches);
  /// Whether there are so many classes that finding one takes as long as planning, and no more are kept.
  [[nodiscard]] bool full() const noexcept { return count_.load(std::memory_order_relaxed) >= most_classes; }

 private:
  struct Node {
    PlacedLaunches launches;
    const Node* next;
  };
  static constexpr std::uint32_t most_classes = 256;
  std::atomic<const Node*> first_{nullptr};
  std::atomic<std::uint32_t> count_{0};
};

/// Where an operation's tensors reach from their addresses, to tell quickly that nothing is written where
/// something else is read or written.
class Reaches {
 public:
  explicit Reaches(const Operation& operation);
  /// Without a search. Unless it is unsure these addresses are legal: what lies to each other as it was
  /// planned was found legal then.
  [[nodiscard]] Placement placement(const TensorAddresses& addresses) const noexcept;

 private:
  struct Reach {
    DevicePtr planned;
    std::uint64_t below;  ///< bytes before the address
    std::uint64_t above;  ///< bytes behind it, without the first
    bool empty;
  };
  std::vector<Reach> reaches_;  ///< of destinations, then sources
  std::size_t written_ = 0;     ///< destinations
};

TMAJIT_END
