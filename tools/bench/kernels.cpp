#include "bench.hpp"

#include <tmajit/plan.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using tmajit::ElementType;
using tmajit::Operation;
using tmajit::Tensor;
using tmajit::TensorView;

/// Distance of the tensors' addresses. No kernel is launched, so they need no memory.
constexpr std::uint64_t address_step = std::uint64_t{1} << 40;
constexpr std::size_t random_shapes = 2000;

/// Operations of many shapes, as one program might use them.
struct Sweep {
  std::string name;
  std::vector<Operation> operations;
};

Tensor tensor(ElementType type, const std::vector<std::uint64_t>& shape, std::uint64_t number) {
  return {TensorView::contiguous(type, shape), address_step * (number + 1)};
}

Tensor permuted_tensor(ElementType type, const std::vector<std::uint64_t>& shape,
                       const std::vector<std::uint32_t>& axes) {
  std::vector<std::uint64_t> out;
  out.reserve(axes.size());
  for (const std::uint32_t axis : axes) out.push_back(shape[axis]);
  return tensor(type, out, 0);
}

Operation permutation(ElementType type, const std::vector<std::uint64_t>& shape,
                      const std::vector<std::uint32_t>& axes) {
  return tmajit::operation::permute(permuted_tensor(type, shape, axes), tensor(type, shape, 1), axes);
}

/// The operations that `make` returns for every length from 1 to `longest`.
Sweep lengths(std::string name, std::uint64_t longest, const std::function<Operation(std::uint64_t)>& make) {
  Sweep sweep{std::move(name), {}};
  for (std::uint64_t n = 1; n <= longest; ++n) sweep.operations.push_back(make(n));
  return sweep;
}

/// Random extents, distributed so that each order of magnitude is equally frequent.
class Extents {
 public:
  explicit Extents(std::uint64_t seed) : random_(seed) {}
  std::uint64_t operator()(double longest) {
    return static_cast<std::uint64_t>(
        std::exp(std::uniform_real_distribution(0.0, std::log(longest))(random_)));
  }

 private:
  std::mt19937_64 random_;
};

/// The operations that `make` returns for random extents.
Sweep randoms(std::string name, std::uint64_t seed, const std::function<Operation(Extents&)>& make) {
  Sweep sweep{std::move(name), {}};
  Extents extents(seed);
  for (std::size_t i = 0; i < random_shapes; ++i) sweep.operations.push_back(make(extents));
  return sweep;
}

std::vector<Sweep> all_sweeps(std::uint64_t seed) {
  using enum ElementType;
  namespace operation = tmajit::operation;
  std::vector<Sweep> sweeps;
  sweeps.push_back(
      lengths("permute bf16 (8,T,16,64) -> (0,2,1,3), T = 1 ... 4096", 4096, [](std::uint64_t t) {
        return permutation(bf16, {8, t, 16, 64}, {0, 2, 1, 3});
      }));
  for (const ElementType type : {f32, bf16, u8}) {
    const auto title = [&](std::string_view text) {
      return fmt::format(fmt::runtime(text), tmajit::name(type));
    };
    sweeps.push_back(
        lengths(title("permute {} (T,128) -> (1,0), T = 1 ... 4096"), 4096, [&](std::uint64_t t) {
          return permutation(type, {t, 128}, {1, 0});
        }));
    sweeps.push_back(
        lengths(title("permute {} (128,T) -> (1,0), T = 1 ... 4096"), 4096, [&](std::uint64_t t) {
          return permutation(type, {128, t}, {1, 0});
        }));
    sweeps.push_back(randoms(title("permute {} (any,any) -> (1,0)"), seed, [&](Extents& extent) {
      return permutation(type, {extent(8192), extent(8192)}, {1, 0});
    }));
    sweeps.push_back(randoms(title("permute {} (any,any,any) -> (0,2,1)"), seed, [&](Extents& extent) {
      return permutation(type, {extent(300), extent(1000), extent(1000)}, {0, 2, 1});
    }));
    sweeps.push_back(randoms(title("map {} (any,any)"), seed, [&](Extents& extent) {
      const std::vector<std::uint64_t> shape{extent(8192), extent(8192)};
      const Tensor source = tensor(type, shape, 1);
      return operation::map(tensor(type, shape, 0), "x + x", std::span(&source, 1));
    }));
    sweeps.push_back(randoms(title("map {} (any,any) with a row pitch"), seed, [&](Extents& extent) {
      const std::vector<std::uint64_t> shape{extent(8192), extent(8192)};
      Tensor source = tensor(type, {shape[0], shape[1] + extent(100)}, 1);
      source.view.shape[1] = shape[1];
      return operation::map(tensor(type, shape, 0), "x + x", std::span(&source, 1));
    }));
    sweeps.push_back(randoms(title("copy {} (any,any) with a row pitch"), seed, [&](Extents& extent) {
      const std::vector<std::uint64_t> shape{extent(8192), extent(8192)};
      Tensor source = tensor(type, {shape[0], shape[1] + extent(100)}, 1);
      source.view.shape[1] = shape[1];
      return operation::copy(tensor(type, shape, 0), source);
    }));
    sweeps.push_back(randoms(title("pad {} (any,any) by 1"), seed, [&](Extents& extent) {
      const std::vector<std::uint64_t> shape{extent(8192), extent(8192)};
      return operation::pad(tensor(type, {shape[0] + 2, shape[1] + 2}, 0), tensor(type, shape, 1),
                            {{1, 1}, 0});
    }));
    sweeps.push_back(randoms(title("concat {} (any,any) along 1"), seed, [&](Extents& extent) {
      const std::uint64_t rows = extent(4096);
      const std::vector<Tensor> sources{tensor(type, {rows, extent(4096)}, 1),
                                        tensor(type, {rows, extent(4096)}, 2)};
      const std::uint64_t columns = sources[0].view.shape[1] + sources[1].view.shape[1];
      return operation::concat(tensor(type, {rows, columns}, 0), sources, 1);
    }));
  }
  sweeps.push_back(randoms("permute u8 (any,any,3) -> (2,0,1)", seed, [](Extents& extent) {
    return permutation(u8, {extent(4096), extent(4096), 3}, {2, 0, 1});
  }));
  sweeps.push_back(randoms("permute u8 (3,any,any) -> (1,2,0)", seed, [](Extents& extent) {
    return permutation(u8, {3, extent(4096), extent(4096)}, {1, 2, 0});
  }));
  sweeps.push_back(randoms("permute bf16 (any,any,any,any) -> (0,2,1,3)", seed, [](Extents& extent) {
    return permutation(bf16, {extent(16), extent(2048), extent(64), extent(256)}, {0, 2, 1, 3});
  }));
  return sweeps;
}

}  // namespace

void measure_kernels(const Options& options, Report& report) {
  report.line(
      "\nKernels that a program makes when it meets such shapes one after the other, planned for an H200");
  report.json["kernels"] = nlohmann::json::array();
  tmajit::TuningTable tuning = tmajit::TuningTable::shipped();
  tmajit::Chip chip;
  for (const Sweep& sweep : all_sweeps(options.seed)) {
    std::set<std::string, std::less<>> keys;
    std::map<std::string, std::set<std::string>> keys_by_family;
    for (const Operation& operation : sweep.operations) {
      for (const tmajit::KernelPlan& plan :
           tmajit::plan_kernels(operation, {.chip = chip, .tuning = &tuning})) {
        keys.emplace(plan.key());
        keys_by_family[std::string(plan.family().name)].emplace(plan.key());
      }
    }
    report.json["kernels"].push_back(
        {{"sweep", sweep.name}, {"shapes", sweep.operations.size()}, {"kernels", keys.size()}});
    std::string by_family;
    for (const auto& [family, family_keys] : keys_by_family)
      by_family += fmt::format(" {} {}", family, family_keys.size());
    report.line(fmt::format("{:<64} {:>6} shapes {:>5} kernels:{}", sweep.name, sweep.operations.size(),
                            keys.size(), by_family));
  }
}

}  // namespace bench
