#include "npy.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::ElementType;
using tmajit::Error;
using tmajit::ErrorCode;

constexpr std::string_view magic = "\x93NUMPY";
/// NumPy itself refuses headers of more than 10,000 characters unless told otherwise.
constexpr std::uint64_t max_header = 1U << 20U;
constexpr std::size_t max_dimensions = 64;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::io, "not a usable .npy file: " + what);
}

/// Reads the Python literal that a header is: a dict of strings to a string, a bool and a tuple of integers.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  [[nodiscard]] bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) damaged(fmt::format("expected '{}' at character {} of its header", c, at_));
  }

  std::string_view string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"')
      damaged(fmt::format("expected a string at character {} of its header", at_));
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) damaged("a string in its header does not end");
    const auto result = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return result;
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    damaged("fortran_order is neither True nor False");
  }

  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> result;
    expect('(');
    while (!take(')')) {
      if (result.size() == max_dimensions) damaged(fmt::format("more than {} dimensions", max_dimensions));
      result.push_back(integer());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  [[nodiscard]] bool at_list() {
    skip_space();
    return at_ < text_.size() && text_[at_] == '[';
  }

  void expect_end() {
    skip_space();
    if (at_ != text_.size()) damaged(fmt::format("unexpected text at character {} of its header", at_));
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::uint64_t integer() {
    skip_space();
    std::uint64_t value = 0;
    const char* const first = text_.data() + at_;
    const auto [last, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc()) damaged(fmt::format("a bad extent at character {} of its header", at_));
    at_ += static_cast<std::size_t>(last - first);
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8U | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

[[noreturn]] void wrong_type(std::string_view descr, std::string_view why) {
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("elements of NumPy type '{}' {}. Legal are integers of 1, 2, 4 and 8 bytes, floats of "
                  "2, 4 and 8 bytes, and booleans.",
                  descr, why));
}

/// Splits "<f4" into byte order, kind and size.
void parse_descr(std::string_view descr, NpyHeader& header) {
  header.descr = descr;
  std::string_view rest = descr;
  char order = '=';
  if (!rest.empty() && std::string_view("<>=|").find(rest.front()) != std::string_view::npos) {
    order = rest.front();
    rest.remove_prefix(1);
  }
  if (rest.empty()) damaged(fmt::format("its element type '{}' is not one NumPy writes", descr));
  header.kind = rest.front();
  rest.remove_prefix(1);
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
    default: damaged(fmt::format("its element type '{}' is not one NumPy writes", descr));
  }
  std::uint32_t size = 0;
  const auto [last, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
  if (error != std::errc() || last != rest.data() + rest.size() || size == 0) {
    damaged(fmt::format("its element type '{}' is not one NumPy writes", descr));
  }
  const bool known = header.kind == 'b'   ? size == 1
                     : header.kind == 'f' ? size == 2 || size == 4 || size == 8
                                          : size <= 8 && std::has_single_bit(size);
  if (!known) wrong_type(descr, fmt::format("have {} bytes", size));
  header.item_bytes = size;
  header.big_endian = size > 1 && (order == '>' || (order == '=' && std::endian::native == std::endian::big));
}

std::uint64_t checked_bytes(const NpyHeader& header) {
  std::uint64_t bytes = header.item_bytes;
  for (const auto extent : header.shape) {
    if (extent == 0) return 0;
  }
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
    damaged(fmt::format("format version {}.{}; known are 1.0, 2.0 and 3.0", version,
                        std::to_integer<unsigned>(head[7])));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t start = 8 + length_bytes;
  if (head.size() < start) damaged("it ends within its header");
  const std::uint64_t length = little_endian(head.subspan(8, length_bytes));
  if (length > max_header) damaged(fmt::format("a header of {} bytes; the most is {}", length, max_header));
  if (head.size() - start < length) damaged("it ends within its header");

  NpyHeader header;
  header.data_offset = start + length;
  Literal text({reinterpret_cast<const char*>(head.data()) + start, static_cast<std::size_t>(length)});
  std::optional<std::string_view> descr;
  std::optional<bool> fortran;
  std::optional<std::vector<std::uint64_t>> shape;
  text.expect('{');
  while (!text.take('}')) {
    const auto key = text.string();
    text.expect(':');
    if (key == "descr") {
      if (text.at_list()) wrong_type("record", "are records of several fields");
      descr = text.string();
    } else if (key == "fortran_order") {
      fortran = text.boolean();
    } else if (key == "shape") {
      shape = text.shape();
    } else {
      damaged(fmt::format("unknown key '{}' in its header", key));
    }
    if (!text.take(',')) {
      text.expect('}');
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
    damaged(fmt::format("its header promises {} bytes of data, but only {} follow", header.data_bytes,
                        file_bytes - std::min(file_bytes, header.data_offset)));
  }
  return header;
}

std::string format_npy_header(std::string_view descr, std::span<const std::uint64_t> shape) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // 10 bytes before the text in version 1.0, a newline after it. 64 dimensions fit version 1.0 by far.
  constexpr std::size_t alignment = 64;
  const std::size_t unpadded = 10 + text.size() + 1;
  text.append((alignment - unpadded % alignment) % alignment, ' ');
  text.push_back('\n');
  std::string result(magic);
  result += {'\x01', '\x00', static_cast<char>(text.size() & 0xffU), static_cast<char>(text.size() >> 8U)};
  return result + text;
}

std::string_view npy_descr(ElementType type) {
  switch (type) {
    case ElementType::i8: return "|i1";
    case ElementType::u16:
    case ElementType::bf16: return "<u2";
    case ElementType::i16: return "<i2";
    case ElementType::u32: return "<u4";
    case ElementType::i32: return "<i4";
    case ElementType::u64: return "<u8";
    case ElementType::i64: return "<i8";
    case ElementType::f16: return "<f2";
    case ElementType::f32:
    case ElementType::f32_ftz:
    case ElementType::tf32:
    case ElementType::tf32_ftz: return "<f4";
    case ElementType::f64: return "<f8";
    default: return "|u1";
  }
}

ElementType natural_type(const NpyHeader& header) {
  if (header.kind == 'b') return ElementType::u8;
  if (header.kind != 'V') {
    for (const auto type : tmajit::all_element_types) {
      const auto descr = npy_descr(type);
      if (descr[1] == header.kind && tmajit::size_of(type) == header.item_bytes) return type;
    }
  }
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("elements of NumPy type '{}' have no meaning by themselves: name their type with --dtype",
                  header.descr));
}

void check_type(const NpyHeader& header, ElementType type) {
  const auto descr = npy_descr(type);
  bool fits = header.item_bytes == tmajit::size_of(type);
  switch (type) {
    case ElementType::bf16:
    case ElementType::e4m3:
    case ElementType::e5m2:
      fits = fits && (header.kind == 'u' || header.kind == 'i' || header.kind == 'V');
      break;
    case ElementType::f32_ftz:
    case ElementType::tf32:
    case ElementType::tf32_ftz: break;
    case ElementType::u8: fits = fits && header.kind != 'i' && header.kind != 'f'; break;
    default: fits = fits && (header.kind == descr[1] || header.kind == 'V');
  }
  if (fits) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("its elements are of NumPy type '{}', but {} takes '{}'; convert with a.astype('{}'), or "
                  "reinterpret the bits with a.view('{}')",
                  header.descr, tmajit::name(type), descr, descr.substr(1), descr.substr(1)));
}

}  // namespace jitc
