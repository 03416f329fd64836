#include "driver/scratch.hpp"

#include <algorithm>
#include <bit>

TMAJIT_BEGIN
namespace driver {
namespace {

constexpr std::uint64_t min_bytes = 1 << 20;  // enough for most launches

/// Rounds up to a power of two, so that blocks rarely have to grow.
std::uint64_t rounded(std::uint64_t bytes) {
  return std::bit_ceil(std::max(bytes, min_bytes));
}

}  // namespace

/// Writes on a temporary stream: work on the default stream would wait for all other streams, and invalidate
/// captures.
template <class Write>
ScratchBlock::ScratchBlock(std::shared_ptr<const Context> context, std::uint64_t bytes, const Write& write)
    : context_(std::move(context)), bytes_(bytes) {
  const Api& api = context_->api();
  const ContextScope scope(*context_);
  const RelaxedCapture relaxed(api);
  CUdeviceptr address = 0;
  check(api, api.mem_alloc(&address, bytes), "cuMemAlloc({} bytes of scratch)", bytes);
  address_ = address;
  try {
    CUstream stream = nullptr;
    check(api, api.stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    CUresult result = write(api, address, stream);
    if (result == CUDA_SUCCESS) result = api.stream_synchronize(stream);
    api.stream_destroy(stream);
    check(api, result, "writing {} bytes of scratch", bytes);
  } catch (const Error&) {
    api.mem_free(address_);
    throw;
  }
}

ScratchBlock::ScratchBlock(std::shared_ptr<const Context> context, std::uint64_t bytes)
    : ScratchBlock(std::move(context), bytes, [bytes](const Api& api, CUdeviceptr at, CUstream stream) {
        return api.memset_d8_async(at, 0, bytes, stream);
      }) {}

ScratchBlock::ScratchBlock(std::shared_ptr<const Context> context, std::span<const std::byte> contents)
    : ScratchBlock(std::move(context), contents.size(),
                   [contents](const Api& api, CUdeviceptr at, CUstream stream) {
                     return api.memcpy_htod_async(at, contents.data(), contents.size(), stream);
                   }) {}

ScratchBlock::~ScratchBlock() {
  const RelaxedCapture relaxed(context_->api());
  release(*context_, context_->api().mem_free, static_cast<CUdeviceptr>(address_));
}

DevicePtr Scratch::for_stream(Stream stream, std::uint64_t bytes) {
  const Api& api = context_->api();
  const ContextScope scope(*context_);
  unsigned long long number = 0;  // NOLINT(google-runtime-int): the driver's type
  check(api, api.stream_get_id(stream, &number), "cuStreamGetId");
  const std::lock_guard lock(mutex_);
  if (stream_blocks_.size() >= max_streams && !stream_blocks_.contains(number)) {
    // The driver does not report destroyed streams, whose blocks are no longer needed. After this call no
    // stream runs any work, so all blocks can be freed.
    const RelaxedCapture relaxed(api);
    check(api, api.ctx_synchronize(), "cuCtxSynchronize");
    stream_blocks_.clear();
  }
  Blocks& blocks = stream_blocks_[number];
  if (blocks.empty() || blocks.back()->bytes() < bytes) {
    blocks.push_back(std::make_unique<const ScratchBlock>(context_, rounded(bytes)));
  }
  return blocks.back()->address();
}

std::shared_ptr<const ScratchBlock> Scratch::for_capture(std::uint64_t capture, Stream stream,
                                                         std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const ScratchBlock> block = last_captured_block_.lock();
  if (block && capture_ == capture && captured_stream_ == stream && block->bytes() >= bytes) return block;
  block = std::make_shared<const ScratchBlock>(context_, rounded(bytes));
  capture_ = capture;
  captured_stream_ = stream;
  last_captured_block_ = block;
  return block;
}

}  // namespace driver
TMAJIT_END
