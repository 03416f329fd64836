// Reads arbitrary bytes as a manifest. Every record that is read must survive a round trip.
#include <tmajit/kernel_recipe.hpp>

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tmajit::Manifest manifest = tmajit::read_manifest({reinterpret_cast<const char*>(data), size});
  const tmajit::CompilerIdentity compiler{.major = 13, .minor = 0, .build = "b", .path = {}};
  for (const tmajit::KernelRecipe& record : manifest.kernels) {
    const std::string line = record.line();
    const tmajit::Manifest again = tmajit::read_manifest(line);
    if (again.kernels.size() != 1 || again.damaged != 0 || again.kernels[0].line() != line) std::abort();
    // Options that NVRTC would not get are no mistake of the reader.
    try {
      if (again.kernels[0].key(compiler) != record.key(compiler)) std::abort();
    } catch (const std::exception&) {
    }
  }
  return 0;
}
