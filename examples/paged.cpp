// Writes tokens to a paged KV cache by slots, in both of its layouts, and reads a sequence back by its block
// table. The places of a block are one dimension with its heads before or after them: the layouts differ only
// in the view.
#include "support/example.hpp"

#include <cstdio>
#include <vector>

using namespace tmajit;

namespace {

constexpr std::uint64_t blocks = 40;
constexpr std::uint64_t block_size = 16;
constexpr std::uint64_t heads = 4;
constexpr std::uint64_t width = 64;
constexpr std::uint64_t tokens = 100;
constexpr Scatter by_slot{.axes = {0, 1}, .flat = true, .out_of_range = OutOfRange::error};

/// The cache as [blocks, places, heads, width], whether its heads come before the places in memory or not.
Tensor cache_at(DevicePtr address, bool heads_first) {
  if (!heads_first) return Tensor::contiguous(ElementType::bf16, {blocks, block_size, heads, width}, address);
  return permuted(Tensor::contiguous(ElementType::bf16, {blocks, heads, block_size, width}, address),
                  {0, 2, 1, 3});
}

void write_and_read(example::Session& session) {
  const TensorView rows = TensorView::contiguous(ElementType::bf16, {tokens, heads, width});
  const TensorView numbers = TensorView::contiguous(ElementType::i32, {tokens});
  if (session.compile_only()) {
    const auto write =
        operation::scatter(cache_at(1ULL << 40, true), {rows, 1ULL << 41}, {{numbers, 1ULL << 42}}, by_slot);
    std::printf("%s", plan(session.runtime(), write).explain().text().c_str());
    return;
  }
  std::vector<std::uint16_t> keys(tokens * heads * width);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint16_t>(i * 7);
  // The sequence has the blocks 17, 3, 29 …, each of which holds the next 16 tokens.
  std::vector<std::int32_t> table((tokens + block_size - 1) / block_size);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<std::int32_t>((17 + i * 26) % blocks);
  std::vector<std::int32_t> slots(tokens);
  for (std::size_t i = 0; i < tokens; ++i)
    slots[i] = table[i / block_size] * static_cast<std::int32_t>(block_size) +
               static_cast<std::int32_t>(i % block_size);
  const Buffer keys_memory = session.upload(keys);
  const Buffer slots_memory = session.upload(slots);
  const Buffer table_memory = session.upload(table);
  const TensorView read = TensorView::contiguous(ElementType::bf16, {table.size(), block_size, heads, width});

  for (const bool heads_first : {false, true}) {
    const Buffer memory = session.poisoned(blocks * block_size * heads * width * 2);
    const Tensor cache = cache_at(memory.address(), heads_first);
    scatter(session.runtime(), cache, {rows, keys_memory.address()}, {{numbers, slots_memory.address()}},
            by_slot);
    const Buffer sequence = session.poisoned(read.span_bytes());
    gather(session.runtime(), {read, sequence.address()}, cache,
           {Tensor::contiguous(ElementType::i32, {table.size()}, table_memory.address())});
    auto found = session.download<std::uint16_t>(sequence);
    found.resize(keys.size());  // the last block has places without tokens
    example::expect_equal(found, keys);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, "Writes and reads a paged KV cache in both layouts.", write_and_read);
}
