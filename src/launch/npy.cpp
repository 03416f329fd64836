#include "launch/npy.hpp"

#include "launch/files.hpp"
#include "spec/refuse.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Endian.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::string_view magic = "\x93NUMPY";
/// NumPy itself refuses headers of more than 10,000 characters unless told otherwise.
constexpr std::uint64_t max_header = 1U << 20U;
constexpr std::size_t max_dimensions = 64;

template <class... Values>
[[noreturn]] void damaged(fmt::format_string<Values...> what, Values&&... values) {
  fail(ErrorCode::io, "not a usable .npy file: {}", fmt::format(what, std::forward<Values>(values)...));
}

/// Reads the header, a Python literal: a dict of strings to a string, a bool and a tuple of integers.
class Literal {
 public:
  explicit Literal(llvm::StringRef text) : size_(text.size()), rest_(text) {}

  [[nodiscard]] bool take(std::string_view word) {
    skip_space();
    return rest_.consume_front(word);
  }

  void expect(std::string_view word) {
    if (!take(word)) damaged("expected '{}' at character {} of its header", word, at());
  }

  std::string_view string() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') damaged("expected a string at character {} of its header", at());
    const auto end = rest_.find(quote, 1);
    if (end == llvm::StringRef::npos) damaged("a string in its header does not end");
    const auto result = rest_.slice(1, end);
    rest_ = rest_.drop_front(end + 1);
    return result;
  }

  bool boolean() {
    if (take("True")) return true;
    if (take("False")) return false;
    damaged("fortran_order is neither True nor False");
  }

  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> result;
    expect("(");
    while (!take(")")) {
      if (result.size() == max_dimensions) damaged("more than {} dimensions", max_dimensions);
      skip_space();
      if (rest_.consumeInteger(10, result.emplace_back())) {
        damaged("a bad extent at character {} of its header", at());
      }
      rest_.consume_front("L");  // suffix of long integers in Python 2
      if (!take(",")) {
        expect(")");
        break;
      }
    }
    return result;
  }

  void expect_end() {
    skip_space();
    if (!rest_.empty()) damaged("unexpected text at character {} of its header", at());
  }

 private:
  void skip_space() { rest_ = rest_.ltrim(" \n\t"); }
  [[nodiscard]] std::size_t at() const { return size_ - rest_.size(); }

  std::size_t size_;
  llvm::StringRef rest_;
};

[[noreturn]] void wrong_type(std::string_view descr, std::string_view why) {
  refuse(
      "elements of NumPy type '{}' {}. Legal are integers of 1, 2, 4 and 8 bytes, floats of "
      "2, 4 and 8 bytes, booleans, and bfloat16, float8_e4m3fn and float8_e5m2 of ml_dtypes.",
      descr, why);
}

/// Splits "<f4" into byte order, kind and size.
void parse_descr(std::string_view descr, NpyHeader& header) {
  header.descr = descr;
  llvm::StringRef rest = descr;
  char order = '=';
  if (rest.find_first_of("<>=|") == 0) {
    order = rest.front();
    rest = rest.drop_front();
  }
  header.kind = rest.empty() ? '\0' : rest.front();
  switch (header.kind) {
    case 'b':
    case 'u':
    case 'i':
    case 'f':
    case 'V': break;
    case 'O': wrong_type(descr, "are Python objects");
    case 'c': wrong_type(descr, "are complex; store the parts as a further dimension, as a.view('f4') does");
    case 'S':
    case 'U': wrong_type(descr, "are text");
    case 'm':
    case 'M': wrong_type(descr, "are times; store a.view('i8')");
    default: damaged("its element type '{}' is not one NumPy writes", descr);
  }
  std::uint32_t size = 0;
  if (rest.drop_front().getAsInteger(10, size) || size == 0) {
    damaged("its element type '{}' is not one NumPy writes", descr);
  }
  // ml_dtypes registers float8_e5m2 as a float of one byte.
  const bool known = header.kind == 'b' ? size == 1 : size <= 8 && std::has_single_bit(size);
  if (!known) wrong_type(descr, fmt::format("have {}", counted(size, "byte")));
  header.item_bytes = size;
  header.big_endian = size > 1 && (order == '>' || (order == '=' && std::endian::native == std::endian::big));
}

std::uint64_t checked_bytes(const NpyHeader& header) {
  std::uint64_t bytes = header.item_bytes;
  if (std::ranges::count(header.shape, 0U) != 0) return 0;
  for (const auto extent : header.shape) {
    if (bytes > std::numeric_limits<std::uint64_t>::max() / extent)
      damaged("its shape has more than 2^64 bytes");
    bytes *= extent;
  }
  return bytes;
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> head, std::uint64_t file_bytes) {
  if (file_bytes == 0) damaged("it is empty");
  if (head.size() < 10 ||
      std::string_view(reinterpret_cast<const char*>(head.data()), magic.size()) != magic) {
    damaged("it does not begin with \\x93NUMPY and a version");
  }
  const auto version = std::to_integer<unsigned>(head[6]);
  if (version < 1 || version > 3 || head[7] != std::byte{0}) {
    damaged("format version {}.{}; known are 1.0, 2.0 and 3.0", version, std::to_integer<unsigned>(head[7]));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (head.size() < start) damaged("it ends within its header");
  const std::uint64_t length = version == 1 ? llvm::support::endian::read16le(head.data() + 8)
                                            : llvm::support::endian::read32le(head.data() + 8);
  if (length > max_header) damaged("a header of {} bytes; the most is {}", length, max_header);
  if (head.size() - start < length) damaged("it ends within its header");

  NpyHeader header;
  header.data_offset = start + length;
  Literal text({reinterpret_cast<const char*>(head.data()) + start, static_cast<std::size_t>(length)});
  std::optional<std::string_view> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;
  text.expect("{");
  while (!text.take("}")) {
    const auto key = text.string();
    text.expect(":");
    if (key == "descr") {
      if (text.take("[")) wrong_type("record", "are records of several fields");
      descr = text.string();
    } else if (key == "fortran_order") {
      fortran = text.boolean();
    } else if (key == "shape") {
      shape = text.shape();
    } else {
      damaged("unknown key '{}' in its header", key);
    }
    if (!text.take(",")) {
      text.expect("}");
      break;
    }
  }
  text.expect_end();
  if (!descr || !fortran || !shape) damaged("its header lacks descr, fortran_order or shape");
  parse_descr(*descr, header);
  header.fortran_order = *fortran;
  header.shape = std::move(*shape);
  header.data_bytes = checked_bytes(header);
  if (file_bytes < header.data_offset || file_bytes - header.data_offset < header.data_bytes) {
    damaged("its header promises {} of data, but only {} follow", counted(header.data_bytes, "byte"),
            file_bytes - std::min(file_bytes, header.data_offset));
  }
  return header;
}

std::string format_npy_header(std::string_view descr, std::span<const std::uint64_t> shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // Version 1.0 has 10 bytes before the text and a newline after it. Its 2-byte length suffices for 64
  // dimensions.
  constexpr std::size_t alignment = 64;
  const std::size_t unpadded = 10 + text.size() + 1;
  text.append((alignment - unpadded % alignment) % alignment, ' ');
  text.push_back('\n');
  std::string result(magic);
  result += {'\x01', '\x00', static_cast<char>(text.size() & 0xffU), static_cast<char>(text.size() >> 8U)};
  return result + text;
}

std::string_view npy_descr(ElementType type) {
  // In the order of the enumerators: u8, i8, u16 … f64, tf32, tf32_ftz, e4m3, e5m2.
  static constexpr std::array<std::string_view, all_element_types.size()> descrs{
      "|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2",
      "<u2", "<f4", "<f4", "<f8", "<f4", "<f4", "|u1", "|u1"};
  return descrs.at(static_cast<std::size_t>(type));
}

ElementType natural_type(const NpyHeader& header) {
  if (header.kind == 'b') return ElementType::u8;
  if (header.kind == 'f' && header.item_bytes == 1) return ElementType::e5m2;
  if (header.kind != 'V') {
    // A copy: the use of an inline variable by reference would export a symbol from each shared library.
    static constexpr auto types = all_element_types;
    for (const auto type : types) {
      const auto descr = npy_descr(type);
      if (descr[1] == header.kind && size_of(type) == header.item_bytes) return type;
    }
  }
  refuse("elements of NumPy type '{}' have no meaning by themselves: name their type with --dtype",
         header.descr);
}

namespace {

/// The name of the type's dtype in ml_dtypes; empty for a type that NumPy has itself.
std::string_view name_in_ml_dtypes(ElementType type) {
  switch (type) {
    case ElementType::bf16: return "bfloat16";
    case ElementType::e4m3: return "float8_e4m3fn";
    case ElementType::e5m2: return "float8_e5m2";
    default: return {};
  }
}

}  // namespace

void check_type(const NpyHeader& header, ElementType type) {
  const auto descr = npy_descr(type);
  bool fits = header.item_bytes == size_of(type);
  switch (type) {
    case ElementType::bf16:
    case ElementType::e4m3:
    case ElementType::e5m2:
      fits = fits && (header.kind == 'u' || header.kind == 'i' || header.kind == 'V' ||
                      (header.kind == 'f' && type == ElementType::e5m2));
      break;
    case ElementType::f32_ftz:
    case ElementType::tf32:
    case ElementType::tf32_ftz: break;
    case ElementType::u8: fits = fits && header.kind != 'i' && header.kind != 'f'; break;
    default: fits = fits && (header.kind == descr[1] || header.kind == 'V');
  }
  if (fits) return;
  // For types that NumPy lacks, files store the bits as integers. The message names the dtype of ml_dtypes:
  // a.astype() to an integer type would round the values.
  const std::string_view ml_dtypes_name = name_in_ml_dtypes(type);
  const std::string dtype = ml_dtypes_name.empty() ? fmt::format("'{}'", descr.substr(1))
                                                   : fmt::format("ml_dtypes.{}", ml_dtypes_name);
  const std::string view_hint =
      header.item_bytes == size_of(type) ? fmt::format("; a.view({}) reinterprets the bits", dtype) : "";
  refuse("its elements are of NumPy type '{}', but {} is {}; a.astype({}) converts the values{}",
         header.descr, name(type), dtype, dtype, view_hint);
}

std::vector<std::int64_t> c_order(std::span<const std::uint64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::uint64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = static_cast<std::int64_t>(stride);
    stride *= shape[d];
  }
  return strides;
}

InputArray::InputArray(const std::filesystem::path& path)
    : path_(input_name(path)),
      file_(std::make_shared<InputFile>(path)),
      header_(naming(path_, [this] { return parse_npy_header(file_->bytes(), file_->bytes().size()); })) {}

std::span<const std::byte> InputArray::data() const noexcept {
  return file_->bytes().subspan(header_.data_offset, header_.data_bytes);
}

HostLayout InputArray::layout() const {
  auto shape = header_.shape;
  if (header_.fortran_order) std::ranges::reverse(shape);
  // GPUs are little-endian, and so is every host that has one.
  HostLayout result{.strides = c_order(shape), .swapped = header_.big_endian};
  if (header_.fortran_order) std::ranges::reverse(result.strides);
  return result;
}

ElementType InputArray::type() const {
  return naming(path_, [this] { return natural_type(header_); });
}

void InputArray::check(ElementType type) const {
  naming(path_, [&] { check_type(header_, type); });
}

OutputArray::OutputArray(const std::filesystem::path& path)
    : path_(path == standard_stream ? "standard output" : path), file_(std::make_shared<OutputFile>(path)) {}

std::span<std::byte> OutputArray::reserve(std::string_view descr, std::uint32_t item_bytes,
                                          std::span<const std::uint64_t> shape) {
  const std::string header = format_npy_header(descr, shape);
  std::uint64_t bytes = item_bytes;
  for (const auto extent : shape) bytes *= extent;
  const auto memory = file_->reserve(header.size() + bytes);
  std::memcpy(memory.data(), header.data(), header.size());
  return memory.subspan(header.size());
}

void OutputArray::commit() {
  file_->commit();
}

TMAJIT_END
