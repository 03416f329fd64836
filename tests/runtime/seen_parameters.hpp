#pragma once

#include "runtime/fake_device.hpp"

#include <tmajit/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace tests {

/// A plan's parameters by name, as a launch passes them to the device.
class Seen {
 public:
  Seen() = default;
  Seen(const tmajit::KernelPlan& plan, const FakeDevice::Launch& launch)
      : shape(launch.shape), stream(launch.stream) {
    const std::vector<tmajit::Parameter> parameters = plan.parameters();
    CHECK(launch.parameters.size() == parameters.size());
    for (std::size_t i = 0; i < parameters.size() && i < launch.parameters.size(); ++i) {
      const auto* const bytes = static_cast<const std::byte*>(launch.parameters[i]);
      parameters_[parameters[i].name] = {bytes, bytes + parameters[i].bytes};
      names.push_back(parameters[i].name);
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return parameters_.contains(name); }
  /// `count` numbers of a parameter, which begin `offset` bytes after its start.
  template <class T>
  [[nodiscard]] std::vector<T> numbers(const std::string& name, std::size_t count,
                                       std::size_t offset = 0) const {
    std::vector<T> values(count);
    const std::vector<std::byte>& bytes = parameters_.at(name);
    REQUIRE(offset + count * sizeof(T) <= bytes.size());
    std::memcpy(values.data(), bytes.data() + offset, count * sizeof(T));
    return values;
  }
  /// A parameter's first 8 bytes: an address, or the number of a tensor map.
  [[nodiscard]] std::uint64_t word(const std::string& name) const {
    return numbers<std::uint64_t>(name, 1)[0];
  }
  [[nodiscard]] std::vector<std::uint32_t> tiles(std::size_t rank) const {
    const auto dividers = numbers<std::uint32_t>("grid", 3 * rank);
    std::vector<std::uint32_t> divisors;
    for (std::size_t d = 0; d < rank; ++d) divisors.push_back(dividers[3 * d]);
    return divisors;
  }

  tmajit::LaunchShape shape;
  tmajit::Stream stream = nullptr;
  std::vector<std::string> names;

 private:
  std::map<std::string, std::vector<std::byte>> parameters_;
};

}  // namespace tests
