// Moves a view to a view. The projections of an attention layer are stored token by token as
// [tokens, 3, heads, width] in f32. This program extracts the keys head by head, as [heads, tokens, width] in
// bf16, and scales them.
//
// One plan serves every layer: only addresses change.
#include "support/example.hpp"

#include <array>
#include <bit>
#include <cstdio>

using namespace tmajit;

namespace {

constexpr std::uint64_t tokens = 100;
constexpr std::uint64_t heads = 6;
constexpr std::uint64_t width = 64;

/// A view of a layer's keys inside the projections, as [heads, tokens, width]. No data moves.
Tensor keys_of(DevicePtr projections) {
  const Tensor all = Tensor::contiguous(ElementType::f32, {tokens, 3, heads, width}, projections);
  const Tensor keys = sliced(all, {{}, {1, 2}});  // index 1 of queries, keys, values
  return permuted(reshaped(keys, {tokens, heads, width}), {1, 0, 2});
}

std::vector<float> random_projections(std::uint32_t seed) {
  std::vector<float> values(tokens * 3 * heads * width);
  for (float& value : values) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<float>(seed >> 25);  // times 1/8 exact in bf16
  }
  return values;
}

std::vector<std::uint16_t> expected(const std::vector<float>& projections) {
  std::vector<std::uint16_t> keys;
  for (std::uint64_t h = 0; h < heads; ++h) {
    for (std::uint64_t t = 0; t < tokens; ++t) {
      for (std::uint64_t w = 0; w < width; ++w) {
        const float key = projections[((t * 3 + 1) * heads + h) * width + w] * 0.125F;
        keys.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(key) >> 16));
      }
    }
  }
  return keys;
}

void permute_keys(example::Session& session) {
  const TensorView dense = TensorView::contiguous(ElementType::bf16, {heads, tokens, width});
  const auto scaled = [&](DevicePtr keys, DevicePtr projections) {
    return operation::map({dense, keys}, "x * 0.125f", {keys_of(projections)});
  };
  if (session.compile_only()) {
    // A plan needs no device: any addresses with the alignment of the later ones may be used.
    std::printf("%s", plan(session.runtime(), scaled(1ULL << 40, 1ULL << 41)).explain().text().c_str());
    return;
  }
  const std::array layers{random_projections(1), random_projections(2)};
  const std::array projections{session.upload(layers[0]), session.upload(layers[1])};
  const Buffer keys = session.poisoned(dense.span_bytes());

  const Plan lay_out = plan(session.runtime(), scaled(keys.address(), projections[0].address()));
  std::printf("%s", lay_out.explain().text().c_str());
  lay_out();
  example::expect_equal(session.download<std::uint16_t>(keys), expected(layers[0]));

  lay_out({keys.address()}, {keys_of(projections[1].address()).address});
  example::expect_equal(session.download<std::uint16_t>(keys), expected(layers[1]));

  // One call restores the order token by token.
  const TensorView back = TensorView::contiguous(ElementType::bf16, {tokens, heads, width});
  const Buffer result = session.poisoned(back.span_bytes());
  permute(session.runtime(), {back, result.address()}, {dense, keys.address()}, {1, 0, 2});
  const auto got = session.download<std::uint16_t>(result);
  const auto head_by_head = expected(layers[1]);
  std::vector<std::uint16_t> want(got.size());
  for (std::uint64_t i = 0; i < want.size(); ++i) {
    const std::uint64_t t = i / (heads * width);
    const std::uint64_t h = i / width % heads;
    want[i] = head_by_head[(h * tokens + t) * width + i % width];
  }
  example::expect_equal(got, want);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, "Lays an attention layer's keys out head by head, in bf16.", permute_keys);
}
