#pragma once

#include "reference/random.hpp"

#include <tmajit/operations.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
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
  bits,     ///< random bits
  numbers,  ///< random finite numbers, of the type of a tensor in the buffer
  whole,    ///< small whole numbers, whose sums are exact in any order
  units,    ///< 1, −1 and a few 2, whose products are exact in any order
};

/// The content of a source that is an index tensor: numbers of places in a dimension of `extent` elements,
/// some of them counted from its end. With `offsets`: the offsets of bags of `extent` indices, in order.
struct IndexContents {
  std::size_t source = 0;
  std::uint64_t extent = 0;
  /// All places are different: in the whole tensor, or along dimension `axis`.
  bool distinct = false;
  std::optional<std::size_t> axis = std::nullopt;
  bool outside = false;  ///< some numbers are outside of the dimension
  bool offsets = false;
};

/// A case of the tests of correctness: an operation, by its name, with its arguments and tensors. Most cases
/// are random. Buffers begin at multiples of 256 bytes.
struct TestCase {
  std::string_view operation;
  tmajit::Arguments arguments = {};
  std::vector<BufferView> destinations = {};
  std::vector<BufferView> sources = {};
  std::vector<tmajit::Tensor> numbers = {};  ///< sources that are numbers; they follow `sources`
  std::vector<std::uint64_t> buffers = {};   ///< size of each buffer in bytes
  Contents contents = Contents::bits;
  std::vector<IndexContents> indices = {};  ///< sources that do not have `contents`
  bool has_nan = false;                     ///< some floating-point elements of Contents::whole are NaN
  std::uint64_t alignment = 1;  ///< alignment of addresses that the operation needs, besides the elements'

  /// The largest alignment that a tensor needs: buffers may move by multiples of it.
  [[nodiscard]] std::uint64_t shift() const;

  /// The case on one line.
  [[nodiscard]] std::string text() const;
};

/// A case of dense tensors, each in its own buffer, with `shift` elements in front of it.
[[nodiscard]] TestCase dense_case(std::string_view operation, const tmajit::Arguments& arguments,
                                  std::vector<tmajit::TensorView> destinations,
                                  std::vector<tmajit::TensorView> sources, std::uint64_t shift = 0);

/// The bytes of a case's buffers, gaps included.
using Buffers = std::vector<std::vector<std::byte>>;
[[nodiscard]] Buffers random_buffers(const TestCase& test_case, std::uint64_t seed);

/// The case as an operation on buffers at these addresses.
[[nodiscard]] tmajit::Operation operation_of(const TestCase& test_case,
                                             std::span<const tmajit::DevicePtr> buffers);

/// The bytes of the buffers after the operation, by its reference.
struct Expected {
  Buffers buffers;
  std::vector<std::vector<double>> allowed;  ///< allowed_errors() of each move
};
[[nodiscard]] Expected expected(const TestCase& test_case, Buffers before);
/// A sentence that says where the buffers `found` differ from the expected ones; empty if they do not.
[[nodiscard]] std::string difference(const TestCase& test_case, const Expected& expected, Buffers found);

struct CaseLimits {
  std::uint64_t elements = 20'000;       ///< elements of all destinations together
  std::uint64_t max_elements = 400'000;  ///< limit in place of `elements` for one kernel seed in eight
  std::uint64_t bytes = 24'000'000;      ///< bytes of all buffers together
  std::uint64_t guard = 64;              ///< bytes of a buffer before and after its tensors
};

using Shape = std::vector<std::uint64_t>;
[[nodiscard]] std::uint64_t element_count(const Shape& shape);
[[nodiscard]] std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple);

/// Draws one case of the tests of correctness. It has two sources of random numbers, so that many cases can
/// share a kernel. The sequence of draws from `kernel_property_random` must not depend on numbers from
/// `launch_parameter_random`.
class TestCaseDraw {
 public:
  TestCaseDraw(std::string_view operation, std::uint64_t kernel_seed, std::uint64_t launch_seed,
               const CaseLimits& limits);

  /// Decides what kernels are specialised for: types, rank, orders of dimensions, signs, alignment,
  /// approximate extents.
  Random kernel_property_random;
  /// Decides what a kernel gets at its launch: exact extents, gaps, offsets, the boundaries of parts.
  Random launch_parameter_random;
  CaseLimits limits;
  std::uint64_t element_limit = 0;  ///< `limits.elements`, or in one case of eight `limits.max_elements`
  bool aligned = false;             ///< rows are multiples of 16 bytes apart
  bool may_misalign = true;         ///< some tensors do not begin at a multiple of 16 bytes
  tmajit::ElementType type{};       ///< type of the destination
  TestCase test_case;               ///< the case under construction

  /// The number of elements in 16 bytes if `aligned`, else 1.
  [[nodiscard]] std::uint64_t granule() const;
  [[nodiscard]] tmajit::ElementType any_type();
  [[nodiscard]] tmajit::ElementType same_size_type();
  /// An extent near `about`, which `kernel_property_random` has decided. Numbers up to 12 are returned
  /// unchanged.
  [[nodiscard]] std::uint64_t extent(std::uint64_t about);
  /// A shape of rank 0 to 8; extents may be 0 or 1.
  [[nodiscard]] Shape shape();
  /// A shape of a rank between these limits, without extents of 0; inner dimensions may be longer.
  [[nodiscard]] Shape tensor_shape(std::uint64_t min_rank, std::uint64_t max_rank);
  /// A shape that can be broadcast to `shape`: some extents are 1, some leading dimensions are missing.
  /// Dimension `keep` keeps its extent.
  [[nodiscard]] Shape broadcastable(Shape shape, std::size_t keep = tmajit::max_view_rank);
  /// A view with any order of dimensions, gaps and negative strides. Strides of a source may also be 0, or so
  /// small that elements share memory.
  [[nodiscard]] tmajit::TensorView view(tmajit::ElementType of, const Shape& shape, bool source);
  /// A row-major view, sometimes with gaps between rows; tensor maps can describe it if `aligned`.
  [[nodiscard]] tmajit::TensorView row_major_view(tmajit::ElementType of, const Shape& shape);
  /// Places a view in a new buffer.
  BufferView place(const tmajit::TensorView& view);
  /// Places a view after the tensors of a buffer. `buffer` may be one past the last: then it is a new buffer.
  BufferView append(const tmajit::TensorView& view, std::size_t buffer);

  /// In one case of three: the expression with one or two numbers of the launch, which are added to the case.
  /// Their values are 1 to 3. `text` is an expression of the case's sources, or empty for x.
  [[nodiscard]] std::string with_numbers(std::string text);
  /// Adds a number of the launch, 1 to 3, of any type that numbers have.
  void add_number();

  // Each places a view in a new buffer, as the case's next destination or source.
  void add_destination(const tmajit::TensorView& view) { test_case.destinations.push_back(place(view)); }
  void add_source(const tmajit::TensorView& view) { test_case.sources.push_back(place(view)); }
};

}  // namespace reference
