#include "data.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <span>

namespace bench {
namespace {

using tmajit::ElementType;

constexpr std::uint64_t pattern_bytes = 16ULL << 20;

/// Without its topmost exponent bit a floating-point number is finite and below 2.
std::uint64_t finite_mask(ElementType type) {
  if (!tmajit::is_float(type)) return ~std::uint64_t{0};
  switch (tmajit::size_of(type)) {
    case 1: return 0xBFBFBFBFBFBFBFBF;
    case 2: return 0xBFFFBFFFBFFFBFFF;
    case 4: return 0xBFFFFFFFBFFFFFFF;
    default: return 0xBFFFFFFFFFFFFFFF;
  }
}

}  // namespace

void fill_random(Gpu& gpu, tmajit::DevicePtr address, std::uint64_t bytes, ElementType type,
                 std::uint64_t seed) {
  const std::uint64_t mask = finite_mask(type);
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> pattern(pattern_bytes / sizeof(std::uint64_t));
  for (std::uint64_t& word : pattern) word = random() & mask;
  std::uint64_t filled = std::min(bytes, pattern_bytes);
  gpu.device->copy_in(address, std::as_bytes(std::span(pattern)).first(filled), gpu.stream);
  while (filled < bytes) {
    const std::uint64_t more = std::min(filled, bytes - filled);
    gpu.device->copy(address + filled, address, more, gpu.stream);
    filled += more;
  }
  gpu.device->synchronize(gpu.stream);
}

std::vector<Window> sample_windows(std::uint64_t elements, std::uint64_t seed) {
  constexpr std::uint64_t whole = 4ULL << 20;
  constexpr std::uint64_t end = 1ULL << 20;
  constexpr std::uint64_t inner = 64ULL << 10;
  constexpr int inner_windows = 8;
  if (elements <= whole) return {{0, elements}};
  std::vector<Window> windows{{0, end}, {elements - end, end}};
  std::mt19937_64 random(seed);
  for (int i = 0; i < inner_windows; ++i) windows.push_back({random() % (elements - inner), inner});
  return windows;
}

std::vector<std::byte> read(Gpu& gpu, tmajit::DevicePtr address, std::uint64_t bytes) {
  std::vector<std::byte> host(bytes);
  gpu.device->copy_out(host, address, gpu.stream);
  gpu.device->synchronize(gpu.stream);
  return host;
}

}  // namespace bench
