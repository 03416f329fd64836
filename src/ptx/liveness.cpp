#include "ptx/liveness.hpp"

#include "ptx/operands.hpp"

#include <bit>

TMAJIT_BEGIN
namespace ptx {
namespace {

/// Limit of blocks × slots: each of the three bit sets then takes 8 MB.
constexpr std::size_t max_bits = 64'000'000;

/// A row of bits for each block.
class Rows {
 public:
  Rows(std::size_t rows, std::size_t bits) : words_((bits + 63) / 64), bits_(rows * words_, 0) {}
  [[nodiscard]] std::uint64_t* operator[](std::size_t row) { return bits_.data() + row * words_; }
  [[nodiscard]] std::size_t words() const noexcept { return words_; }
  void set(std::size_t row, std::uint32_t bit) { (*this)[row][bit / 64] |= 1ULL << bit % 64; }
  void clear(std::size_t row, std::uint32_t bit) { (*this)[row][bit / 64] &= ~(1ULL << bit % 64); }
  [[nodiscard]] std::vector<std::uint32_t> row(std::size_t row) {
    std::vector<std::uint32_t> set;
    for (std::size_t i = 0; i < words_; ++i) {
      for (std::uint64_t word = (*this)[row][i]; word != 0; word &= word - 1)
        set.push_back(static_cast<std::uint32_t>(i * 64 + std::countr_zero(word)));
    }
    return set;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace

bool Liveness::find(const FlatFunction& function, const ControlFlow& flow,
                    const std::vector<std::uint32_t>& slot_of, std::size_t slots) {
  const std::size_t blocks = flow.blocks().size();
  if (blocks * slots > max_bits) return false;
  Rows in(blocks, slots);
  Rows out(blocks, slots);
  Rows written(blocks, slots);
  for (const std::uint32_t block : flow.order()) {
    for (std::uint32_t i = flow.blocks()[block].last; i-- > flow.blocks()[block].first;) {
      const FlatInstruction& flat = function.instructions[i];
      for_each_written(flat, [&](std::uint32_t reg, std::uint32_t) {
        if (slot_of[reg] >= slots) return;
        // A guarded write may leave the previous value, so the slot stays live.
        if (flat.instruction->guard) return;
        in.clear(block, slot_of[reg]);
        written.set(block, slot_of[reg]);
      });
      for_each_read(flat, [&](std::uint32_t reg) {
        if (slot_of[reg] < slots) in.set(block, slot_of[reg]);
      });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = flow.order().rbegin(); block != flow.order().rend(); ++block) {
      std::uint64_t* const leaving = out[*block];
      for (const Edge& edge : flow.blocks()[*block].edges) {
        for (std::size_t i = 0; i < out.words(); ++i) leaving[i] |= in[edge.target][i];
      }
      for (std::size_t i = 0; i < in.words(); ++i) {
        const std::uint64_t entering = in[*block][i] | (leaving[i] & ~written[*block][i]);
        changed = changed || entering != in[*block][i];
        in[*block][i] = entering;
      }
    }
  }
  in_.resize(blocks);
  out_.resize(blocks);
  size_ = 0;
  for (const std::uint32_t block : flow.order()) {
    in_[block] = in.row(block);
    out_[block] = out.row(block);
    size_ += out_[block].size();
  }
  return true;
}

}  // namespace ptx
TMAJIT_END
