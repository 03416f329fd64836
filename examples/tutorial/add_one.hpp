#pragma once

#include "support/example.hpp"

#include <algorithm>
#include <numeric>

/// The host part of steps 3 and 4 of the tutorial, whose kernels compute the same.
namespace example {

/// Options of both programs.
inline std::vector<Option> options_of_add_one() {
  return {{"--size", {301, 200}, "rows,columns of the matrix; columns are a multiple of 4"},
          {"--stages", {4}, "stages of shared memory, 8 KiB each"},
          {"--ctas", {1}, "CTAs on an SM"}};
}

/// Adds one to a matrix of floats, in tiles of 32 × 64, by the kernel `text` in CTAs of `threads` threads.
inline void add_one(Session& session, const char* text, const char* file, std::uint32_t threads) {
  using namespace tmajit;
  const std::uint32_t stages = session.option("--stages")[0];
  const std::uint32_t shared_bytes = 1024 + stages * 32 * 64 * 4;
  const Kernel kernel =
      session.kernel({.text = text, .file = file, .constants = {{"stages", stages}}}, shared_bytes);
  if (session.compile_only()) return;

  const std::uint32_t rows = session.option("--size")[0];
  const std::uint32_t columns = session.option("--size")[1];
  const std::uint32_t across = (columns + 63) / 64;
  const std::uint32_t tiles = across * ((rows + 31) / 32);
  std::vector<float> x(std::size_t{rows} * columns);
  std::iota(x.begin(), x.end(), 0.0F);
  const Buffer in = session.upload(x);
  const Buffer out = session.poisoned(in.bytes());
  const TensorView matrix = TensorView::contiguous(ElementType::f32, {rows, columns});
  const TensorMapSpec map = TensorMapSpec::of(matrix, {32, 64});
  const std::uint32_t ctas = std::min(tiles, session.option("--ctas")[0] * session.device().info().sm_count);
  const PreparedLaunch launch = kernel.prepare(
      {.tensors = {{matrix, out.address()}, {matrix, in.address()}},
       .arguments = {MapArgument{0, map}, MapArgument{1, map}, ValueArgument::of(across),
                     ValueArgument::of(tiles)},
       .shape = {.grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .shared_bytes = shared_bytes}});
  launch();

  for (float& value : x) ++value;
  expect_equal(session.download<float>(out), x);
  session.time(launch);
}

}  // namespace example
