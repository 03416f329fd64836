#pragma once

#include "reference/random.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/own_kernel.hpp>
#include <tmajit/own_launch.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Compares a device's results with those that the CPU computes, for each instruction of the copy engine and
/// for related instructions.
namespace conformance {

/// A piece of the device's memory, with its bytes before a kernel runs and the bytes that it must have
/// afterwards.
struct Memory {
  std::string_view name;                               ///< "tensor"
  tmajit::ElementType type = tmajit::ElementType::u8;  ///< type in which differences are reported
  std::vector<std::byte> before;
  std::vector<std::byte> after;
  bool compared = true;  ///< false: the kernel's result there is ignored
};

/// A launch before the trial's own launch: another kernel of the same source, with the trial's arguments.
struct EarlierLaunch {
  std::string entry;
  tmajit::LaunchShape shape;
};

/// One launch of one kernel, or several on one stream.
struct Trial {
  std::string what;  ///< distinguishes the trials of a case
  tmajit::OwnKernel kernel;
  std::vector<Memory> memories;  ///< tensor i of the launch is memory i
  std::vector<tmajit::KernelArgument> arguments;
  tmajit::LaunchShape shape;
  std::vector<EarlierLaunch> earlier_launches = {};  ///< launched in this order
  /// The launch is prepared for other memory, then moved to these memories (cuTensorMapReplaceAddress).
  bool moved = false;
};

/// A case of the suite: several trials of one subject.
struct Case {
  std::string name;  ///< "tensor.load.swizzles"; for a question that the ISA leaves open, "settle: …"
  std::vector<std::string> instructions;  ///< instructions that the kernels execute: "cp.async.bulk.tensor"
  std::string what;                       ///< a sentence: the facts that the case checks
  std::function<std::vector<Trial>(reference::Random&)> trials;
  /// Rules that the case breaks on purpose, and that the simulated device reports.
  std::vector<std::string_view> reports = {};
};

}  // namespace conformance
