#include "launch/npy.hpp"

#include <tmajit/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

/// Parses arbitrary bytes as a .npy file. They must be refused with an Error, or accepted: the data of an
/// accepted file are within it, and its header survives a round trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    const auto header = tmajit::parse_npy_header(bytes, size);
    if (header.data_offset > size || header.data_bytes > size - header.data_offset) std::abort();
    std::uint64_t expected = header.item_bytes;
    for (const auto extent : header.shape) expected *= extent;
    if (expected != header.data_bytes) std::abort();
    if (header.kind == 'V') return 0;
    const auto type = tmajit::natural_type(header);
    tmajit::check_type(header, type);
    const auto text = tmajit::format_npy_header(tmajit::npy_descr(type), header.shape);
    // Only the header is parsed; the data need not exist.
    const auto again =
        tmajit::parse_npy_header(std::as_bytes(std::span(text)), text.size() + header.data_bytes);
    if (again.shape != header.shape || again.data_bytes != header.data_bytes) std::abort();
  } catch (const tmajit::Error&) {
  }
  return 0;
}
