// The shortest program: one plan transposes a matrix. The README shows the central lines.
#include "support/example.hpp"

using namespace tmajit;

namespace {

constexpr std::uint64_t rows = 96;
constexpr std::uint64_t columns = 1000;

void transpose_matrix(example::Session& session) {
  Runtime& runtime = session.runtime();
  DevicePtr x_address = 1ULL << 40;  // for --compile-only: a plan needs no memory
  DevicePtr y_address = 1ULL << 41;
  std::vector<std::uint32_t> elements(rows * columns);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::uint32_t>(i);
  Buffer input;
  Buffer output;
  if (!session.compile_only()) {
    input = session.upload(elements);
    output = session.poisoned(elements.size() * sizeof(elements[0]));
    x_address = input.address();
    y_address = output.address();
  }

  const Tensor x = Tensor::contiguous(ElementType::u32, {rows, columns}, x_address);
  const Tensor y = Tensor::contiguous(ElementType::u32, {columns, rows}, y_address);
  const Plan transpose = plan(runtime, operation::permute(y, x, {1, 0}));
  if (session.compile_only()) return;
  transpose();

  std::vector<std::uint32_t> expected;
  for (std::uint64_t column = 0; column < columns; ++column) {
    for (std::uint64_t row = 0; row < rows; ++row) expected.push_back(elements[row * columns + column]);
  }
  example::expect_equal(session.download<std::uint32_t>(output), expected);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(argc, argv, "Transposes a matrix of 96 x 1000 words.", transpose_matrix);
}
