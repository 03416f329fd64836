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
  std::string directives{};            ///< performance directives of the kernel, such as .maxntid
  std::vector<std::uint32_t> words{};  ///< initial words; empty: 1024 words, word i holding i
};

/// Runs a kernel whose parameters are the address of the words and the addresses of the maps. Its dynamic
/// shared memory is `smem`. `before` is PTX before the kernel.
Outcome run(const std::string& body, Shape shape = {}, const std::string& before = "");

/// A map of 32 rows with this number of words each; its boxes have two rows.
tmajit::TensorMapSpec rows_of(std::uint32_t words);

/// The text of all reports.
std::string reports_text(const Outcome& outcome);

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
inline const std::string registers =
    ".reg .pred %p<9>;\n.reg .b32 %r<30>;\n.reg .b64 %rd<20>;\nld.param.u64 %rd1, [p0];\n"
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %cluster_ctarank;\nmov.u32 %r3, %cluster_nctarank;\n"
    "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, smem;\nsetp.eq.u32 %p1, %r1, 0;\n";
/// PTX of the cluster's barrier.
inline const std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
/// PTX that sets %rd3 to the address of word %ctaid.x · ntid + tid.
inline const std::string element =
    "mov.u32 %r20, %ntid.x;\nmad.lo.u32 %r20, %r4, %r20, %r1;\nmul.wide.u32 %rd2, %r20, 4;\n"
    "add.u64 %rd3, %rd1, %rd2;\n";
/// PTX that sets %r6 to the rank of the next CTA.
inline const std::string next = "add.u32 %r6, %r2, 1;\nrem.u32 %r6, %r6, %r3;\n";

}  // namespace tests::text
