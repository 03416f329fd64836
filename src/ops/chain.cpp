#include "spec/overlap.hpp"
#include "spec/refuse.hpp"

#include <tmajit/fusion.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace {

bool contains(const ByteRange& outer, const ByteRange& inner) {
  return outer.first <= inner.first && inner.last <= outer.last;
}

/// Where the tensors of a chain's operations are in one launch.
class MovedChain {
 public:
  explicit MovedChain(List<MovedTensor> moved) {
    for (const MovedTensor& one : moved) {
      if (const auto bytes = byte_range({one.planned.view, one.planned.address}))
        blocks_.push_back({*bytes, one.address - one.planned.address});
    }
    // The first block that contains a tensor is the smallest one.
    std::ranges::stable_sort(blocks_, {},
                             [](const Block& block) { return block.bytes.last - block.bytes.first; });
  }

  /// The addresses of an operation's tensors.
  std::vector<DevicePtr> move(std::span<const Tensor> tensors, bool written) {
    std::vector<DevicePtr> addresses;
    for (const Tensor& tensor : tensors) {
      const auto bytes = byte_range({tensor.view, tensor.address});
      const DevicePtr shift = bytes ? shift_of(*bytes) : 0;
      addresses.push_back(tensor.address + shift);
      if (bytes) tensors_.push_back({*bytes, shift, written});
    }
    return addresses;
  }

  /// Throws Error{invalid_argument} if a destination shares other bytes with another tensor than planned:
  /// fuse() and the order of the operations rely on what they share.
  void check() const {
    for (const Used& a : tensors_) {
      for (const Used& b : tensors_) {
        if (!a.written || a.shift == b.shift) continue;
        if (meet(a.bytes, b.bytes))
          refuse(
              "tensors of the chain that share the bytes at 0x{:x} move by different distances; they must "
              "move together",
              std::max(a.bytes.first, b.bytes.first));
        if (meet(moved(a), moved(b)))
          refuse(
              "a destination of the chain would share the bytes at 0x{:x} with another tensor, as was not "
              "planned; legal are separate addresses",
              std::max(moved(a).first, moved(b).first));
      }
    }
  }

 private:
  struct Block {
    ByteRange bytes;
    DevicePtr shift = 0;
  };
  struct Used {
    ByteRange bytes;  ///< as planned
    DevicePtr shift = 0;
    bool written = false;
  };

  static ByteRange moved(const Used& tensor) {
    return {tensor.bytes.first + tensor.shift, tensor.bytes.last + tensor.shift};
  }
  [[nodiscard]] DevicePtr shift_of(const ByteRange& bytes) const {
    const Block* cut = nullptr;
    for (const Block& block : blocks_) {
      if (contains(block.bytes, bytes)) return block.shift;
      if (meet(block.bytes, bytes)) cut = &block;
    }
    if (cut != nullptr) {
      refuse(
          "a tensor of the chain at 0x{:x} to 0x{:x} is only partly within a moved tensor, at 0x{:x} to "
          "0x{:x}; move the whole tensor",
          bytes.first, bytes.last, cut->bytes.first, cut->bytes.last);
    }
    return 0;
  }

  std::vector<Block> blocks_;
  std::vector<Used> tensors_;
};

}  // namespace

ChainPlan plan(const Runtime& runtime, const Fusion& fusion) {
  ChainPlan chain;
  for (const Operation& operation : fusion.operations) chain.plans_.push_back(plan(runtime, operation));
  chain.sentences_ = fusion.sentences;
  return chain;
}

void ChainPlan::operator()(Stream stream) const {
  for (const Plan& plan : plans_) plan(stream);
}

void ChainPlan::operator()(List<MovedTensor> moved, Stream stream) const {
  MovedChain chain(moved);
  std::vector<std::vector<DevicePtr>> addresses;
  for (const Plan& plan : plans_) {
    addresses.push_back(chain.move(plan.operation().destinations, true));
    addresses.push_back(chain.move(plan.operation().sources, false));
  }
  chain.check();
  for (std::size_t p = 0; p < plans_.size(); ++p)
    plans_[p](List<DevicePtr>(std::span(std::as_const(addresses[2 * p]))),
              List<DevicePtr>(std::span(std::as_const(addresses[2 * p + 1]))), stream);
}

std::uint64_t ChainPlan::bytes_moved() const noexcept {
  std::uint64_t bytes = 0;
  for (const Plan& plan : plans_) bytes += plan.bytes_moved();
  return bytes;
}
std::span<const Plan> ChainPlan::plans() const noexcept {
  return plans_;
}
std::span<const std::string> ChainPlan::sentences() const noexcept {
  return sentences_;
}
std::string ChainPlan::explanation() const {
  std::string text;
  for (const std::string& sentence : sentences_) text += sentence + '\n';
  for (const Plan& plan : plans_) text += '\n' + plan.explain().text();
  return text;
}

TMAJIT_END
