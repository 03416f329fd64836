// What an application outside this repository does first: check a kernel, plan it, write its source, compile
// it.
#include <tmajit/tmajit.hpp>

#include <array>
#include <cstdint>
#include <iostream>

namespace {

tmajit::TileRequest scale(const std::array<std::uint32_t, 2>& box) {
  const std::array<std::uint64_t, 2> shape{1000, 4096};
  const auto view = tmajit::TensorView::contiguous(tmajit::ElementType::f32, shape);
  tmajit::TileRequest request;
  request.family = "map";
  request.destination = {view};
  request.sources = {{view}};
  request.expression = "x * 2 + 1";
  request.tiles.box = box;
  return request;
}

}  // namespace

int main() try {
  // 3 floats are 12 bytes, which no tensor map takes.
  const std::array<std::uint32_t, 2> illegal{32, 3};
  if (tmajit::validate(scale(illegal)).empty()) {
    std::cerr << "an illegal box was accepted\n";
    return 1;
  }
  const std::array<std::uint32_t, 2> legal{32, 64};
  if (!tmajit::validate(scale(legal)).empty()) {
    std::cerr << "a legal box was refused\n";
    return 1;
  }

  const auto plan = tmajit::plan_tiles(scale(legal));
  const auto source = tmajit::source(plan);
  const auto artifact = tmajit::compile(source);
  std::cout << artifact.entry << ": " << artifact.cubin.size() << " bytes of cubin, "
            << artifact.resources.registers << " registers, " << artifact.resources.spill_store_bytes
            << " bytes spilled\n";
  const bool is_elf = artifact.cubin.size() > 4 && artifact.cubin[1] == std::byte{'E'};
  return is_elf && artifact.resources.registers > 0 ? 0 : 1;
} catch (const tmajit::Error& error) {
  std::cerr << tmajit::name(error.code()) << ": " << error.what() << '\n';
  return 1;
}
