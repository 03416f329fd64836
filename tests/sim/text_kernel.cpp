#include "sim/text_kernel.hpp"

#include <numeric>

#include <catch2/generators/catch_generators_all.hpp>

namespace tests::text {

using namespace tmajit;

Outcome run(const std::string& body, Shape shape, const std::string& before) {
  if (shape.options.threads == 0) shape.options.threads = 1;
  const auto sim = make_sim_device(shape.options);
  const auto count = static_cast<std::uint32_t>(1 + shape.maps.size());
  const auto kernel = sim->kernels().load(
      module_of(body, count, ".extern .shared .align 1024 .b8 smem[];\n" + before, shape.directives));
  kernel->allow_shared_bytes(shape.shared_bytes);
  std::vector<std::uint32_t> words = shape.words;
  if (words.empty()) {
    words.resize(1024);
    std::iota(words.begin(), words.end(), 0U);
  }
  const Buffer buffer(sim, 4 * words.size());
  sim->memory().copy_in(buffer.address(), std::as_bytes(std::span(words)), nullptr);
  const Buffer maps(sim, 128ULL * count);
  std::vector<std::uint64_t> addresses{buffer.address()};
  for (const TensorMapSpec& spec : shape.maps) {
    const EncodedTensorMap map = sim->maps().encode(spec, buffer.address());
    addresses.push_back(maps.address() + 128 * (addresses.size() - 1));
    sim->memory().copy_in(addresses.back(), std::as_bytes(std::span(map.opaque)), nullptr);
  }
  std::vector<void*> parameters;
  parameters.reserve(addresses.size());
  for (std::uint64_t& address : addresses) parameters.push_back(&address);
  kernel->launch({.grid = {shape.grid, 1, 1},
                  .block = {shape.block, 1, 1},
                  .shared_bytes = shape.shared_bytes,
                  .cluster = {shape.cluster, 1, 1},
                  .cooperative = shape.cooperative},
                 parameters, nullptr);
  sim->memory().copy_out(std::as_writable_bytes(std::span(words)), buffer.address(), nullptr);
  return {words, sim->reports()};
}

TensorMapSpec rows_of(std::uint32_t words) {
  TensorMapSpec spec;
  spec.type = ElementType::u32;
  spec.rank = 2;
  spec.shape = {32, words};
  spec.strides = {std::uint64_t{4} * words, 4};
  spec.box = {2, words};
  spec.element_strides = {1, 1};
  return spec;
}

std::string reports_text(const Outcome& outcome) {
  std::string text;
  for (const Report& report : outcome.reports) text += report.text() + "\n";
  return text;
}

void expect_only(const Outcome& outcome, const std::string& rule) {
  INFO(reports_text(outcome));
  REQUIRE(outcome.reports.size() == 1);
  CHECK(outcome.reports[0].rule == rule);
}

void expect_first(const Outcome& outcome, const std::string& rule) {
  INFO(reports_text(outcome));
  REQUIRE_FALSE(outcome.reports.empty());
  CAPTURE(rule);
  CHECK(outcome.reports[0].rule.starts_with(rule));
}

void expect_clean(const Outcome& outcome) {
  INFO(reports_text(outcome));
  CHECK(outcome.reports.empty());
}

SimOptions::Mode any_mode() {
  return GENERATE(SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random);
}

}  // namespace tests::text
