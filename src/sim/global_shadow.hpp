#pragma once

/// The shadow of global memory for one launch; what nobody touches takes no room.
#include "sim/global_memory.hpp"
#include "sim/shadow.hpp"

TMAJIT_BEGIN
namespace sim {

/// Thread-safe: blocks come into being once, and are locked to be used.
class GlobalShadow {
 public:
  explicit GlobalShadow(const std::vector<Region>& regions);
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;
  GlobalShadow& operator=(const GlobalShadow&) = delete;

  struct Found {
    Block* block;
    std::uint32_t line;
  };
  /// The shadow of an address of a region; `hint` is the caller's, to find it faster.
  void prefetch(std::uint64_t address, std::size_t& hint) const noexcept;
  [[nodiscard]] Found find(std::uint64_t address, std::size_t& hint);

 private:
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::unique_ptr<std::atomic<Block*>[]> blocks;
  };
  [[nodiscard]] static std::size_t blocks_of(const Part& part) {
    return static_cast<std::size_t>((part.bytes + Block::bytes - 1) / Block::bytes);
  }

  /// The part that holds an address.
  [[nodiscard]] const Part& part(std::uint64_t address, std::size_t& hint) const noexcept {
    if (hint >= parts_.size() || address - parts_[hint].begin >= parts_[hint].bytes) search(address, hint);
    return parts_[hint];
  }
  void search(std::uint64_t address, std::size_t& hint) const noexcept;

  std::vector<Part> parts_;
};

}  // namespace sim
TMAJIT_END
