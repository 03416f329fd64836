#include "workload.hpp"

#include "data.hpp"

#include <algorithm>
#include <cstring>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using tmajit::Family;
using tmajit::Operand;
using tmajit::TensorView;

constexpr std::byte poison{0xA5};

std::uint64_t bytes_of(const TensorView& view) {
  return view.elements() * tmajit::size_of(view.type);
}

/// Buffers of one arena start on 256 bytes, as separate allocations would.
std::uint64_t pitch(std::uint64_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// The first difference as text; empty if there is none.
std::string difference(const std::vector<std::byte>& got, const std::vector<std::byte>& want,
                       std::uint64_t element_bytes, std::uint64_t first) {
  if (got == want) return {};
  const auto place = std::mismatch(got.begin(), got.end(), want.begin(), want.end());
  const auto element = static_cast<std::uint64_t>(place.first - got.begin()) / element_bytes;
  std::uint64_t got_bits = 0;
  std::uint64_t want_bits = 0;
  std::memcpy(&got_bits, got.data() + element * element_bytes, element_bytes);
  std::memcpy(&want_bits, want.data() + element * element_bytes, element_bytes);
  return fmt::format("element {} of the output has the bits {:#x} instead of {:#x}", first + element,
                     got_bits, want_bits);
}

}  // namespace

TensorView output_of(const Case& c, const tmajit::KernelSpec& spec, std::uint64_t size) {
  const std::vector<std::uint64_t> shape = c.shape(size);
  if (c.family != Family::snapshot) return TensorView::contiguous(c.output, shape);
  return tmajit::output_view(spec, TensorView::contiguous(c.inputs.front(), shape));
}

std::uint64_t bytes_moved(const Case& c, const tmajit::KernelSpec& spec, std::uint64_t size) {
  std::uint64_t bytes = bytes_of(output_of(c, spec, size));
  for (const auto type : c.inputs) bytes += bytes_of(TensorView::contiguous(type, c.shape(size)));
  return bytes;
}

Workload::Workload(Gpu& gpu, const Case& c, std::uint64_t size, const Plan& plan, std::uint64_t output_bytes,
                   std::uint64_t reference_bytes, std::uint64_t seed)
    : gpu_(gpu),
      case_(c),
      seed_(seed),
      sets_(plan.sets),
      output_pitch_(pitch(output_bytes)),
      reference_bytes_(reference_bytes),
      output_buffer_(gpu.device, plan.sets * pitch(output_bytes)),
      reference_source_(gpu.device, plan.sets * pitch(reference_bytes)),
      reference_destination_(gpu.device, plan.sets * pitch(reference_bytes)) {
  for (const auto type : c.inputs) {
    const TensorView view = TensorView::contiguous(type, c.shape(size));
    const tmajit::Buffer& buffer = input_buffers_.emplace_back(gpu.device, sets_ * pitch(bytes_of(view)));
    fill_random(gpu, buffer.address(), buffer.bytes(), type, seed + inputs_.size());
    inputs_.push_back(view);
  }
  fill_random(gpu, reference_source_.address(), reference_source_.bytes(), c.inputs.front(), seed);
}

std::vector<tmajit::PreparedLaunch> Workload::prepare(const tmajit::Kernel& kernel,
                                                      const tmajit::KernelSpec& spec) const {
  TensorView output =
      TensorView::contiguous(case_.output, std::span(inputs_[0].shape).first(inputs_[0].rank));
  if (case_.family == Family::snapshot) output = tmajit::output_view(spec, inputs_[0]);
  std::vector<tmajit::PreparedLaunch> launches;
  for (std::size_t set = 0; set < sets_; ++set) {
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      Operand operand;
      operand.view = inputs_[i];
      operand.address = input_buffers_[i].address() + set * pitch(bytes_of(inputs_[i]));
      operands.push_back(operand);
    }
    Operand destination;
    destination.view = output;
    destination.address = output_buffer_.address() + set * output_pitch_;
    launches.push_back(kernel.prepare(operands, destination));
  }
  return launches;
}

void Workload::copy(std::size_t set) const {
  const std::uint64_t offset = set * pitch(reference_bytes_);
  gpu_.device->copy(reference_destination_.address() + offset, reference_source_.address() + offset,
                    reference_bytes_, gpu_.stream);
}

std::string Workload::check(const tmajit::PreparedLaunch& launch, const tmajit::KernelSpec& spec) const {
  gpu_.device->fill(output_buffer_.address(), poison, output_pitch_, gpu_.stream);
  launch(gpu_.stream);
  gpu_.device->synchronize(gpu_.stream);
  if (case_.family == Family::snapshot) return check_tiles(spec);
  return case_.reference ? check_elements() : std::string();
}

std::string Workload::check_elements() const {
  const std::uint64_t element_bytes = tmajit::size_of(case_.output);
  for (const Window& window : sample_windows(inputs_[0].elements(), seed_)) {
    std::vector<std::vector<std::byte>> inputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::uint64_t bytes = tmajit::size_of(inputs_[i].type);
      inputs.push_back(read(gpu_, input_buffers_[i].address() + window.first * bytes, window.count * bytes));
    }
    std::vector<std::byte> want;
    case_.reference(inputs, window.count, want);
    const std::vector<std::byte> got =
        read(gpu_, output_buffer_.address() + window.first * element_bytes, window.count * element_bytes);
    if (std::string wrong = difference(got, want, element_bytes, window.first); !wrong.empty()) return wrong;
  }
  return {};
}

// Bands of tiles: all the tiles that share their rows. Tiles come in row-major order, so a band is one piece
// of the output and of the input.
std::string Workload::check_tiles(const tmajit::KernelSpec& spec) const {
  const TensorView& source = inputs_[0];
  const std::uint64_t element_bytes = tmajit::size_of(source.type);
  const std::uint64_t row_bytes = source.shape[1] * element_bytes;
  const std::uint64_t tile_rows = spec.tile[0];
  const std::uint64_t tile_row_bytes = spec.tile[1] * element_bytes;
  const tmajit::TileLayout layout =
      tmajit::tile_layout(source.type, std::span(spec.tile).first(2), spec.input(0).swizzle);
  const std::uint64_t across = (row_bytes + tile_row_bytes - 1) / tile_row_bytes;
  const std::uint64_t bands = (source.shape[0] + tile_rows - 1) / tile_rows;

  for (const std::uint64_t band : {std::uint64_t{0}, bands / 2, bands - 1}) {
    const std::uint64_t first_row = band * tile_rows;
    const std::uint64_t rows = std::min(tile_rows, source.shape[0] - first_row);
    const std::vector<std::byte> input =
        read(gpu_, input_buffers_[0].address() + first_row * row_bytes, rows * row_bytes);
    std::vector<std::byte> want(across * layout.bytes);  // zero beyond the tensor, as the fill is
    for (std::uint64_t tile = 0; tile < across; ++tile) {
      const std::uint64_t bytes = std::min(tile_row_bytes, row_bytes - tile * tile_row_bytes);
      for (std::uint64_t row = 0; row < rows; ++row) {
        std::memcpy(want.data() + tile * layout.bytes + row * layout.pitch_bytes,
                    input.data() + row * row_bytes + tile * tile_row_bytes, bytes);
      }
    }
    const std::uint64_t first = band * across * layout.bytes;
    const std::vector<std::byte> got = read(gpu_, output_buffer_.address() + first, want.size());
    if (std::string wrong = difference(got, want, 1, first); !wrong.empty()) return wrong;
  }
  return {};
}

}  // namespace bench
