// Modules of the simulated device: kernels that share variables, and host memory that kernels access.
#include "expect.hpp"

#include <tmajit/sim_module.hpp>

#include <array>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>

using namespace tmajit;

void use_modules(const std::string& ptx_file) {
  const std::shared_ptr<SimDevice> device = make_sim_device();
  std::ostringstream ptx;
  ptx << std::ifstream(ptx_file).rdbuf();
  const std::unique_ptr<SimModule> module = load_sim_module(device, ptx.str());
  expect(module->kernels().size() == 2 && module->variable("launches")->bytes == 4,
         "a module names its parts");

  const std::array<unsigned, 1> factor{5};
  module->write("factor", 0, std::as_bytes(std::span(factor)));
  static std::array<unsigned, 32> values{};
  values[31] = 7;
  map_host_memory(*device, std::as_writable_bytes(std::span(values)));
  unsigned* address = values.data();
  const std::array<void*, 1> parameters{&address};
  module->load("scale")->launch({.block = {32, 1, 1}}, parameters, nullptr);
  device->streams().synchronize(nullptr);
  expect(values[31] == 35, "a kernel writes memory of the host");
  constexpr DevicePtr elsewhere = 0x4000'0000'0000;
  map_host_memory(*device, std::as_writable_bytes(std::span(values)), elsewhere);
  device->memory().fill(elsewhere + 4, std::byte{1}, 4, nullptr);
  expect(values[1] == 0x01010101, "memory of the host has another address on the device");
  std::array<unsigned, 1> launches{};
  module->read("launches", 0, std::as_writable_bytes(std::span(launches)));
  expect(launches[0] == 1, "the host reads a variable of the device");
}
