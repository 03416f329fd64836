// What an application outside this repository does first: check a spec, generate its kernel, compile it.
#include <tmajit/tmajit.hpp>

#include <array>
#include <cstdint>
#include <iostream>

namespace {

tmajit::KernelSpec scale_spec(const std::array<std::uint32_t, 2>& box) {
  const std::array<std::uint64_t, 2> shape{1000, 4096};
  const auto view = tmajit::TensorView::contiguous(tmajit::ElementType::f32, shape);
  tmajit::TileOptions options;
  options.box = box;
  return tmajit::map_spec("x * 2 + 1", std::array{view}, view, options);
}

}  // namespace

int main() try {
  // 3 floats are 12 bytes, which no tensor map takes.
  if (tmajit::validate(scale_spec({32, 3})).empty()) {
    std::cerr << "an illegal box was accepted\n";
    return 1;
  }
  const auto spec = scale_spec({32, 64});
  if (!tmajit::validate(spec).empty()) {
    std::cerr << "a legal spec was refused\n";
    return 1;
  }

  const auto source = tmajit::generate(spec);
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
