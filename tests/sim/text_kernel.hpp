#pragma once

/// Runs kernels that are a few lines of PTX on words of global memory.
#include "sim/support.hpp"

#include <tmajit/tensor_map_spec.hpp>

namespace tests::text {

struct Outcome {
  std::vector<std::uint32_t> words;
  std::vector<tmajit::Report> reports;
};

struct Shape {
  std::uint32_t grid = 4;
  std::uint32_t cluster = 4;
  std::uint32_t block = 32;
  tmajit::SimOptions options{};
  std::uint32_t shared_bytes = 4096;
  std::vector<tmajit::TensorMapSpec> maps{};  ///< tensor maps of the words, which are in global memory
  bool cooperative = false;
  std::string directives{};            ///< .maxntid and others
  std::vector<std::uint32_t> words{};  ///< initial words; empty: 1024 words, word i holding i
};

/// Runs a kernel whose parameters are the address of the words and those of the maps. Its shared memory is
/// `smem`.
Outcome run(const std::string& body, Shape shape = {}, const std::string& before = "");

/// A map of 32 rows with this number of words each; its boxes have two rows.
tmajit::TensorMapSpec rows_of(std::uint32_t words);

std::string all_of(const Outcome& outcome);

/// Checks that there is one report, of this rule.
void expect_only(const Outcome& outcome, const std::string& rule);
/// Checks that there are reports, and that the rule of the first one begins with `rule`.
void expect_first(const Outcome& outcome, const std::string& rule);
/// Checks that there are no reports.
void expect_clean(const Outcome& outcome);

/// A Catch2 generator of all modes.
tmajit::SimOptions::Mode any_mode();

/// PTX that declares registers and sets some: %rd1 to the words' address, %r1 to tid, %r2 and %r3 to the
/// CTA's rank and the cluster's size, %r4 to ctaid, %r5 to smem, and %p1 to whether the thread is the first
/// of its CTA.
extern const std::string registers;
/// PTX of the cluster's barrier.
extern const std::string meet;
/// PTX that sets %rd3 to the address of word %ctaid.x · ntid + tid.
extern const std::string element;
/// PTX that sets %r6 to the rank of the next CTA.
extern const std::string next;

}  // namespace tests::text
