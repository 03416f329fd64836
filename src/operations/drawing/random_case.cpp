#include "operations/drawing/random_case.hpp"

#include "operations/references.hpp"
#include "reference/random_elements.hpp"
#include "reference/scalar.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>

namespace reference {

using namespace tmajit;

namespace {

bool is_unsigned(ElementType type) {
  return type == ElementType::u8 || type == ElementType::u16 || type == ElementType::u32 ||
         type == ElementType::u64;
}

void print(std::ostream& out, const BufferView& tensor) {
  const auto list = [&](const auto& values) {
    for (std::uint32_t d = 0; d < tensor.view.rank; ++d) out << (d == 0 ? "" : ",") << values.at(d);
  };
  out << name(tensor.view.type) << '[';
  list(tensor.view.shape);
  out << "] strides (";
  list(tensor.view.strides);
  out << ") at byte " << tensor.offset << " of buffer " << tensor.buffer;
}

std::vector<Tensor> tensors(std::span<const BufferView> views, std::span<const DevicePtr> buffers) {
  std::vector<Tensor> result;
  for (const BufferView& view : views) result.push_back({view.view, buffers[view.buffer] + view.offset});
  return result;
}

/// The operation in host memory.
Operation operation_in(const TestCase& test_case, Buffers& buffers) {
  std::vector<DevicePtr> addresses;
  for (auto& buffer : buffers) addresses.push_back(reinterpret_cast<DevicePtr>(buffer.data()));
  return operation_of(test_case, addresses);
}

/// The element type of the first tensor in a buffer.
ElementType type_in(const TestCase& test_case, std::size_t buffer) {
  for (const auto* views : {&test_case.sources, &test_case.destinations}) {
    const auto found = std::ranges::find(*views, buffer, &BufferView::buffer);
    if (found != views->end()) return found->view.type;
  }
  return ElementType::u8;
}

void fill_small_numbers(const TestCase& test_case, std::size_t buffer, Random& random,
                        std::span<std::byte> bytes) {
  const ElementType type = type_in(test_case, buffer);
  const std::uint32_t size = size_of(type);
  // All tensors of a buffer are multiples of the element size apart.
  std::size_t at = 0;
  for (const BufferView& source : test_case.sources) {
    if (source.buffer == buffer) at = source.offset % size;
  }
  for (; at + size <= bytes.size(); at += size) {
    std::int32_t value = static_cast<std::int32_t>(between(random, 0, 8)) - (is_unsigned(type) ? 0 : 4);
    if (test_case.contents == Contents::units)
      value = one_in(random, 30) ? 2 : one_in(random, 2) && !is_unsigned(type) ? -1 : 1;
    const bool is_nan = test_case.has_nan && is_float(type) && one_in(random, 100);
    encode(type, is_nan ? Scalar(std::numeric_limits<float>::quiet_NaN()) : Scalar(value), &bytes[at]);
  }
}

/// Numbers outside of a dimension, as near to it as possible and as far away.
std::int64_t draw_outside(ElementType type, std::int64_t extent, Random& random) {
  const std::int64_t highest = size_of(type) == 4 ? std::numeric_limits<std::int32_t>::max()
                                                  : std::numeric_limits<std::int64_t>::max();
  const std::uint64_t drawn = between(random, 0, is_unsigned(type) ? 2 : 4);
  if (drawn == 0) return extent;
  if (drawn == 1) return extent + static_cast<std::int64_t>(between(random, 1, 1000));
  if (drawn == 2) return is_unsigned(type) ? -1 : highest;
  return drawn == 3 ? -extent - 1 : -highest - 1;
}

void fill_indices(const IndexContents& contents, const Tensor& tensor, Random& random) {
  const TensorView& view = tensor.view;
  const auto extent = static_cast<std::int64_t>(contents.extent);
  std::vector<std::int64_t> places(contents.extent);
  std::iota(places.begin(), places.end(), 0);
  std::shuffle(places.begin(), places.end(), random);
  std::uint64_t number = 0;
  for_each_index(view.rank, whole(view), [&](const Index& index) {
    std::uint64_t place = contents.axis ? index.at(*contents.axis) : number++;
    if (!contents.distinct) place = between(random, 0, contents.extent - 1);
    std::int64_t value = places.at(place);
    if (!is_unsigned(view.type) && one_in(random, 3)) value -= extent;
    if (contents.outside && one_in(random, 16)) value = draw_outside(view.type, extent, random);
    std::memcpy(element_at(tensor, offset_of(view, index)), &value, size_of(view.type));
  });
}

/// The offsets of bags that divide a list of `indices` indices.
std::vector<std::int64_t> draw_offsets(std::uint64_t count, std::uint64_t indices, Random& random) {
  std::vector<std::int64_t> offsets(count);
  const std::uint64_t kind = between(random, 0, 2);
  const std::uint64_t step = between(random, 1, 9);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint64_t offset = between(random, 0, indices);       // bags of any length
    if (kind == 1) offset = one_in(random, 2) ? 0 : indices;  // one bag has all indices
    if (kind == 2) offset = std::min(i * step, indices);      // short bags, then empty ones
    offsets[i] = static_cast<std::int64_t>(offset);
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

void fill_offsets(const IndexContents& contents, const Tensor& tensor, Random& random) {
  const TensorView& view = tensor.view;
  const std::vector<std::int64_t> offsets = draw_offsets(view.shape[0], contents.extent, random);
  for_each_index(view.rank, whole(view), [&](const Index& index) {
    std::int64_t value = offsets.at(index[0]);
    if (contents.outside && one_in(random, 8)) {
      value = one_in(random, 2) ? static_cast<std::int64_t>(between(random, 0, contents.extent))
                                : draw_outside(view.type, static_cast<std::int64_t>(contents.extent), random);
    }
    std::memcpy(element_at(tensor, offset_of(view, index)), &value, size_of(view.type));
  });
}

std::string hex(const std::byte* bytes, std::size_t count) {
  std::ostringstream out;
  out << "0x" << std::hex;
  for (std::size_t i = count; i-- > 0;)
    out << (std::to_integer<unsigned>(bytes[i]) >> 4) << (std::to_integer<unsigned>(bytes[i]) & 15);
  return out.str();
}

}  // namespace

std::string TestCase::text() const {
  std::ostringstream out;
  out << operation;
  for (const auto& [name, value] : arguments.all()) out << ' ' << name << ' ' << text_of(value);
  for (const BufferView& tensor : destinations) print(out << "; to ", tensor);
  for (const BufferView& tensor : sources) print(out << "; from ", tensor);
  for (const Tensor& number : numbers)
    out << "; number " << name(number.view.type) << " 0x" << std::hex << number.address << std::dec;
  return out.str();
}

std::uint64_t TestCase::shift() const {
  std::uint64_t largest = alignment;
  for (const auto* views : {&destinations, &sources}) {
    for (const BufferView& view : *views) largest = std::max<std::uint64_t>(largest, size_of(view.view.type));
  }
  return largest;
}

TestCase dense_case(std::string_view operation, const Arguments& arguments,
                    std::vector<TensorView> destinations, std::vector<TensorView> sources,
                    std::uint64_t shift) {
  TestCase result{.operation = operation, .arguments = arguments, .contents = Contents::whole};
  if (destinations.empty()) destinations = destinations_of(operation, sources, arguments);
  const auto place = [&](const TensorView& view) -> BufferView {
    const std::uint64_t before = shift * size_of(view.type);
    result.buffers.push_back(before + view.span_bytes());
    return {view, result.buffers.size() - 1, before};
  };
  for (const TensorView& view : destinations) result.destinations.push_back(place(view));
  for (const TensorView& view : sources) result.sources.push_back(place(view));
  return result;
}

Buffers random_buffers(const TestCase& test_case, std::uint64_t seed) {
  Random random(seed);
  Buffers buffers;
  for (std::size_t i = 0; i < test_case.buffers.size(); ++i) {
    auto& buffer = buffers.emplace_back(test_case.buffers[i]);
    if (test_case.contents == Contents::numbers) {
      RandomElements(type_in(test_case, i), random()).fill(buffer);
      continue;
    }
    for (std::size_t at = 0; at < buffer.size(); at += 8) {
      const std::uint64_t bits = random();
      std::memcpy(&buffer[at], &bits, std::min<std::size_t>(8, buffer.size() - at));
    }
    if (test_case.contents != Contents::bits) fill_small_numbers(test_case, i, random, buffer);
  }
  for (const IndexContents& contents : test_case.indices) {
    const BufferView& source = test_case.sources[contents.source];
    const auto address = reinterpret_cast<DevicePtr>(buffers[source.buffer].data());
    const Tensor tensor{source.view, address + source.offset};
    if (contents.offsets) {
      fill_offsets(contents, tensor, random);
    } else {
      fill_indices(contents, tensor, random);
    }
  }
  return buffers;
}

Operation operation_of(const TestCase& test_case, std::span<const DevicePtr> buffers) {
  std::vector<Tensor> sources = tensors(test_case.sources, buffers);
  sources.insert(sources.end(), test_case.numbers.begin(), test_case.numbers.end());
  return make_operation(test_case.operation, tensors(test_case.destinations, buffers), sources,
                        test_case.arguments);
}

Expected expected(const TestCase& test_case, Buffers before) {
  Expected result{.buffers = before, .allowed = {}};
  // A destination may be a source of several moves: all of them read what was there before the first one.
  const std::vector<Move> from = operation_in(test_case, before).moves;
  std::vector<Move> moves = operation_in(test_case, result.buffers).moves;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    Move& move = moves[i];
    move.sources = from[i].sources;
    result.allowed.push_back(allowed_errors(move, whole(move.destination.view)));
    compute(move);
  }
  return result;
}

std::string difference(const TestCase& test_case, const Expected& expected, Buffers found) {
  if (expected.buffers == found) return {};
  // Elements within the allowed error are replaced by the expected ones; then all bytes must be equal.
  Buffers wanted = expected.buffers;
  const std::vector<Move> moves = operation_in(test_case, found).moves;
  const std::vector<Move> wanted_moves = operation_in(test_case, wanted).moves;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    if (!makes_values(moves[i])) continue;
    const TensorView& view = moves[i].destination.view;
    const std::vector<double>& allowed = expected.allowed[i];
    std::size_t number = 0;
    for_each_index(view.rank, whole(view), [&](const Index& index) {
      const std::int64_t at = offset_of(view, index);
      std::byte* const actual = element_at(moves[i].destination, at);
      const std::byte* const right = element_at(wanted_moves[i].destination, at);
      const double error = allowed.empty() ? 0 : allowed[number];
      ++number;
      if (is_right(view.type, true, error, right, actual)) std::memcpy(actual, right, size_of(view.type));
    });
  }
  for (std::size_t b = 0; b < wanted.size(); ++b) {
    if (wanted[b] == found[b]) continue;
    const auto wrong = [&](std::size_t i) { return wanted[b][i] != found[b][i]; };
    std::size_t first = 0;
    while (!wrong(first)) ++first;
    std::size_t count = 0;
    for (std::size_t i = first; i < wanted[b].size(); ++i) count += wrong(i) ? 1 : 0;
    std::size_t size = 1;
    bool is_source = true;
    for (const BufferView& tensor : test_case.destinations) {
      if (tensor.buffer != b) continue;
      is_source = false;
      size = size_of(tensor.view.type);
      first -= (first + size - tensor.offset % size) % size;
    }
    size = std::min(size, wanted[b].size() - first);
    std::ostringstream out;
    out << count << " bytes of buffer " << b << (is_source ? ", which holds no destination," : "")
        << " differ; the first element at byte " << first << " is " << hex(&found[b][first], size)
        << " instead of " << hex(&wanted[b][first], size);
    return out.str();
  }
  return {};
}

}  // namespace reference
