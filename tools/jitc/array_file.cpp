#include "array_file.hpp"

#include <tmajit/error.hpp>

#include <bit>
#include <cstring>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

/// Runs `read`, naming the file in front of whatever it complains about.
template <class Read>
auto with_name(const std::filesystem::path& path, const Read& read) {
  try {
    return read();
  } catch (const tmajit::Error& error) {
    throw tmajit::Error(error.code(), fmt::format("{}: {}", path.string(), error.what()));
  }
}

}  // namespace

std::vector<std::int64_t> c_order(std::span<const std::uint64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::uint64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = static_cast<std::int64_t>(stride);
    stride *= shape[d];
  }
  return strides;
}

InputArray::InputArray(std::filesystem::path path)
    : path_(std::move(path)),
      file_(path_),
      header_(with_name(path_, [this] { return parse_npy_header(file_.bytes(), file_.bytes().size()); })) {}

std::span<const std::byte> InputArray::data() const noexcept {
  return file_.bytes().subspan(header_.data_offset, header_.data_bytes);
}

HostLayout InputArray::layout() const {
  HostLayout result;
  if (header_.fortran_order) {
    std::uint64_t stride = 1;
    for (const auto extent : header_.shape) {
      result.strides.push_back(static_cast<std::int64_t>(stride));
      stride *= extent;
    }
  } else {
    result.strides = c_order(header_.shape);
  }
  // GPUs are little-endian, and so is every host that has one.
  result.swapped = header_.big_endian;
  return result;
}

tmajit::ElementType InputArray::type() const {
  return with_name(path_, [this] { return natural_type(header_); });
}

void InputArray::check(tmajit::ElementType type) const {
  with_name(path_, [&] { check_type(header_, type); });
}

OutputArray::OutputArray(std::filesystem::path path) : path_(std::move(path)), file_(path_) {}

std::span<std::byte> OutputArray::reserve(tmajit::ElementType type, std::span<const std::uint64_t> shape) {
  const std::string header = format_npy_header(npy_descr(type), shape);
  std::uint64_t bytes = tmajit::size_of(type);
  for (const auto extent : shape) bytes *= extent;
  const auto memory = file_.reserve(header.size() + bytes);
  std::memcpy(memory.data(), header.data(), header.size());
  return memory.subspan(header.size());
}

void OutputArray::commit() {
  file_.commit();
}

}  // namespace jitc
