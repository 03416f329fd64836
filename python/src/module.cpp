#include "calls.hpp"
#include "chains.hpp"
#include "check.hpp"
#include "errors.hpp"
#include "kernel_arguments.hpp"
#include "kernels.hpp"
#include "observe.hpp"
#include "plans.hpp"
#include "prefetches.hpp"
#include "runtimes.hpp"
#include "xla.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/version.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace tmajit::python {
namespace {

nb::dict describe(const Argument& argument) {
  nb::dict described;
  described["name"] = argument.name;
  described["type"] = name(argument.type);
  described["required"] = argument.required;
  described["default"] = argument.fallback;
  described["sentence"] = argument.sentence;
  described["example"] = argument.example;
  nb::list choices;
  for (const std::string_view choice : argument.choices) choices.append(choice);
  described["choices"] = choices;
  return described;
}

nb::list describe(std::span<const std::string_view> names) {
  nb::list all;
  for (const std::string_view name : names) all.append(name);
  return all;
}

nb::list describe(std::span<const OperandInfo> operands) {
  nb::list all;
  for (const OperandInfo& operand : operands) {
    nb::dict described;
    described["name"] = operand.name;
    described["shape"] = name(operand.shape);
    described["elements"] = name(operand.elements);
    described["required"] = operand.required;
    all.append(described);
  }
  return all;
}

nb::list describe_operations() {
  nb::list all;
  for (const OperationInfo& operation : operations()) {
    nb::dict described;
    described["name"] = operation.name;
    described["summary"] = operation.summary;
    described["min_sources"] = operation.min_sources;
    described["max_sources"] = operation.max_sources;
    described["reads_destination"] = operation.reads_destination;
    described["moves_bits"] = operation.moves_bits;
    described["takes_numbers"] = operation.takes_numbers;
    described["has_indices"] = operation.has_indices;
    described["has_weights"] = operation.has_weights;
    described["has_offsets"] = operation.has_offsets;
    described["is_view"] = operation.is_view;
    described["is_batch"] = operation.is_batch;
    described["many_results"] = operation.has_many_destinations();
    described["one_result_alone"] = operation.several_destinations;
    described["source_names"] = describe(operation.source_names);
    described["result_names"] = describe(operation.result_names);
    described["sources"] = describe(operation.sources);
    described["results"] = describe(operation.destinations);
    nb::list arguments;
    for (const Argument& argument : operation.arguments) arguments.append(describe(argument));
    described["arguments"] = arguments;
    all.append(described);
  }
  return all;
}

std::uint32_t number_of(std::string_view operation) {
  const std::string_view known = find_operation(operation).name;
  return static_cast<std::uint32_t>(std::ranges::find(operations(), known, &OperationInfo::name) -
                                    operations().begin());
}

void options(const std::vector<std::string>& packs, bool shipped_packs,
             const std::optional<std::string>& record, const std::vector<std::string>& read_only_caches,
             std::optional<std::uint64_t> max_cache_bytes, const std::string& when_missing,
             bool allow_other_rounding, std::int64_t background_compiles) {
  constexpr std::int64_t max_threads = 1024;
  if (background_compiles < 0 || background_compiles > max_threads) {
    throw Error(ErrorCode::invalid_argument, "options: background_compiles is " +
                                                 std::to_string(background_compiles) +
                                                 "; legal are 0, which means none, to 1024");
  }
  RuntimeOptions made;
  made.packs = {packs.begin(), packs.end()};
  made.shipped_packs = shipped_packs;
  if (record) made.record = *record;
  made.read_only_caches = {read_only_caches.begin(), read_only_caches.end()};
  if (max_cache_bytes) made.max_cache_bytes = *max_cache_bytes;
  made.when_missing = parse<WhenMissing>(when_missing);
  made.allow_other_rounding = allow_other_rounding;
  made.background_compiles = static_cast<std::uint32_t>(background_compiles);
  set_options(std::move(made));
}

nb::object run_one(std::uint32_t operation, nb::handle sources, nb::handle out, nb::handle type,
                   const nb::tuple& values) {
  const nb::object made = run(operation, sources, out, type, values);
  return out.is_none() ? nb::object(made[0]) : nb::borrow(out);
}

nb::object run_all(std::uint32_t operation, nb::handle sources, nb::handle out, nb::handle type,
                   const nb::tuple& values) {
  const nb::object made = run(operation, sources, out, type, values);
  return out.is_none() ? nb::object(nb::tuple(made)) : nb::borrow(out);
}

nb::object run_some(std::uint32_t operation, nb::handle sources, nb::handle out, nb::handle type,
                    const nb::tuple& values) {
  const nb::object made = run(operation, sources, out, type, values);
  if (!out.is_none()) return nb::borrow(out);
  return nb::len(made) == 1 ? nb::object(made[0]) : nb::object(nb::tuple(made));
}

/// Python itself refuses the module only in interpreters that check for it: from 3.12 on, those with a GIL of
/// their own.
void refuse_sub_interpreters() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error("tmajit._core does not support loading in subinterpreters");
}

}  // namespace
}  // namespace tmajit::python

NB_MODULE(_core, module) {
  using namespace tmajit::python;
  refuse_sub_interpreters();
  module.doc() = "The binding of libtmajit; use the functions of tmajit.";
  module.attr("__version__") = TMAJIT_VERSION_STRING;
  register_errors();
  module.def("operations", &describe_operations, "Every operation and its arguments, as dicts.");
  module.def("find_operation", &number_of, nb::arg("name"), "The number of the operation of that name.");
  module.def("run_one", &run_one, nb::arg("operation"), nb::arg("sources"), nb::arg("out").none(),
             nb::arg("dtype").none(), nb::arg("values"), "Runs an operation with one result.");
  module.def("run_all", &run_all, nb::arg("operation"), nb::arg("sources"), nb::arg("out").none(),
             nb::arg("dtype").none(), nb::arg("values"), "Runs an operation with several results.");
  module.def("run_some", &run_some, nb::arg("operation"), nb::arg("sources"), nb::arg("out").none(),
             nb::arg("dtype").none(), nb::arg("values"),
             "Runs an operation whose only result is returned without a tuple.");
  module.def("options", &options, nb::arg("packs"), nb::arg("shipped_packs"), nb::arg("record").none(),
             nb::arg("read_only_caches"), nb::arg("max_cache_bytes").none(), nb::arg("when_missing"),
             nb::arg("allow_other_rounding"), nb::arg("background_compiles"),
             "Sets the options of all runtimes that this process makes.");
  module.def("describe_results", &describe_results, nb::arg("operation"), nb::arg("sources"),
             nb::arg("dtype").none(), nb::arg("values"), "The (type, shape) of each result.");
  bind_plans(module);
  bind_prefetches(module);
  bind_observe(module);
  bind_chains(module);
  bind_tensor_map(module);
  bind_kernels(module);
  bind_check(module);
  bind_xla(module);
}
