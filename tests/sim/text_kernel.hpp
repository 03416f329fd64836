#pragma once

/// Kernels of a few lines of PTX, run on words of global memory.
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
  std::vector<tmajit::TensorMapSpec> maps{};  ///< maps of the words; the maps are in global memory
  bool cooperative = false;
  std::string directives{};            ///< .maxntid and others
  std::vector<std::uint32_t> words{};  ///< initial words; empty: 1024 words, word i holding i
};

/// Runs a kernel that takes the address of the words, then those of the maps. Its shared memory is `smem`.
Outcome run(const std::string& body, Shape shape = {}, const std::string& before = "");

/// The map of 32 rows of the given number of words, in boxes of two rows.
tmajit::TensorMapSpec rows_of(std::uint32_t words);

std::string all_of(const Outcome& outcome);

/// Checks that there is one report, of this rule.
void expect_only(const Outcome& outcome, const std::string& rule);
/// Checks that there are reports, the first of a rule that begins with `rule`.
void expect_first(const Outcome& outcome, const std::string& rule);
/// Checks that there are no reports.
void expect_clean(const Outcome& outcome);

/// A Catch2 generator of all modes.
tmajit::SimOptions::Mode any_mode();

/// Declares registers, and sets: %rd1 the words' address, %r1 tid, %r2 and %r3 the CTA's rank and the
/// cluster's size, %r4 ctaid, %r5 smem, %p1 whether the thread is the first of its CTA.
extern const std::string registers;
/// The barrier of the cluster.
extern const std::string meet;
/// Address of word %ctaid.x · ntid + tid: %rd3.
extern const std::string element;
/// Rank of the next CTA: %r6.
extern const std::string next;

}  // namespace tests::text
