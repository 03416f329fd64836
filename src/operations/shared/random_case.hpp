#pragma once

#include "reference/random.hpp"

#include <tmajit/operations.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reference {

/// A tensor in one of a case's buffers.
struct BufferView {
  tmajit::TensorView view;
  std::size_t buffer = 0;
  std::uint64_t offset = 0;  ///< bytes from the buffer's beginning to the element with all indices 0
};

/// The values in a case's buffers before the operation.
enum class Contents : std::uint8_t {
  bits,     ///< any
  numbers,  ///< finite ones, of the type of a tensor in the buffer
  whole,    ///< small whole numbers, whose sums are exact in any order
  units,    ///< 1, −1 and a few 2, whose products are
};

/// An operation by its name with everything it is given. Buffers begin at addresses that are multiples of
/// 256.
struct RandomCase {
  std::string_view operation;
  tmajit::Arguments arguments = {};
  std::vector<BufferView> destinations = {};
  std::vector<BufferView> sources = {};
  std::vector<std::uint64_t> buffers = {};  ///< bytes of each
  Contents contents = Contents::bits;
  bool has_nan = false;         ///< whole numbers of floating point have one here and there
  std::uint64_t alignment = 1;  ///< alignment of addresses that the operation needs beside the elements'

  /// How far buffers may move so that every element stays where it may lie.
  [[nodiscard]] std::uint64_t shift() const;

  /// All of it in one line.
  [[nodiscard]] std::string text() const;
};

/// A case without gaps, each tensor in a buffer of its own that it fills but for `shift` elements before it.
[[nodiscard]] RandomCase dense_case(std::string_view operation, const tmajit::Arguments& arguments,
                                    std::vector<tmajit::TensorView> destinations,
                                    std::vector<tmajit::TensorView> sources, std::uint64_t shift = 0);

/// The bytes of a case's buffers, gaps included.
using Buffers = std::vector<std::vector<std::byte>>;
[[nodiscard]] Buffers random_buffers(const RandomCase& drawn, std::uint64_t seed);

/// The case as an operation on buffers at these addresses.
[[nodiscard]] tmajit::Operation operation_of(const RandomCase& drawn,
                                             std::span<const tmajit::DevicePtr> buffers);

/// The bytes of the buffers after the operation, by its reference.
struct Expected {
  Buffers buffers;
  std::vector<std::vector<double>> allowed;  ///< allowed_errors() of each move
};
[[nodiscard]] Expected expected(const RandomCase& drawn, Buffers before);
/// Where buffers after the operation differ from that, in a sentence; empty if nowhere.
[[nodiscard]] std::string difference(const RandomCase& drawn, const Expected& expected, Buffers found);

struct CaseLimits {
  std::uint64_t elements = 20'000;  ///< limit of all destinations; one pattern in eight has `most_elements`
  std::uint64_t most_elements = 400'000;
  std::uint64_t bytes = 24'000'000;  ///< bytes of all buffers together
  std::uint64_t guard = 64;          ///< bytes of a buffer before and after what its tensors reach
};

using Shape = std::vector<std::uint64_t>;
[[nodiscard]] std::uint64_t element_count(const Shape& shape);
[[nodiscard]] std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple);

/// Draws one case: what kernels depend on from one generator, the rest from the other. The first must be used
/// alike whatever the second gives.
class CaseDraw {
 public:
  CaseDraw(std::string_view operation, std::uint64_t pattern, std::uint64_t variation,
           const CaseLimits& limits);

  Random pattern;
  Random vary;
  CaseLimits limits;
  std::uint64_t most = 0;      ///< elements of this case
  bool aligned = false;        ///< rows are at multiples of 16 bytes from each other
  bool shifts = true;          ///< now and then a tensor begins between such multiples
  tmajit::ElementType type{};  ///< type of the destination
  RandomCase made;

  /// Elements that make 16 bytes where everything is to be aligned, else 1.
  [[nodiscard]] std::uint64_t granule() const;
  [[nodiscard]] tmajit::ElementType any_type();
  [[nodiscard]] tmajit::ElementType same_size_type();
  /// An extent near `about`, which the pattern chose: small ones are what they are.
  [[nodiscard]] std::uint64_t extent(std::uint64_t about);
  /// A shape of rank 0 to 8; extents may be 0 or 1.
  [[nodiscard]] Shape shape();
  /// A shape of one of those ranks, without extents of 0; later dimensions may be longer.
  [[nodiscard]] Shape tensor_shape(std::uint64_t least_rank, std::uint64_t most_rank);
  /// A shape that repeats to `shape`: some extents 1, some leading dimensions missing; but `keep`.
  [[nodiscard]] Shape repeatable(Shape shape, std::size_t keep = tmajit::max_view_rank);
  /// Dimensions in any order, gaps, some backwards; strides of a source may be 0, or let its elements lie on
  /// each other.
  [[nodiscard]] tmajit::TensorView view(tmajit::ElementType of, const Shape& shape, bool source);
  /// Dimensions in their order, with gaps between rows now and then: as tensor maps take them if `aligned`.
  [[nodiscard]] tmajit::TensorView rows(tmajit::ElementType of, const Shape& shape);
  /// Puts a view into a buffer of its own.
  BufferView place(const tmajit::TensorView& view);
  /// Puts a view behind what a buffer holds, which may be a new one.
  BufferView append(const tmajit::TensorView& view, std::size_t buffer);

  // The same, as the case's next tensor.
  void destination(const tmajit::TensorView& view) { made.destinations.push_back(place(view)); }
  void source(const tmajit::TensorView& view) { made.sources.push_back(place(view)); }
};

}  // namespace reference
