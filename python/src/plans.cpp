#include "plans.hpp"

#include "numbers.hpp"
#include "plan_request.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>
#include <tmajit/machine/sass.hpp>
#include <tmajit/report/plan.hpp>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace tmajit::python {
namespace {

/// Whether a plan for the view `planned` may be launched on a tensor with the view `found`. Strides of
/// dimensions with extent 1 do not matter.
bool fits(const TensorView& planned, const TensorView& found) {
  if (planned == found) return true;
  if (planned.type != found.type || planned.rank != found.rank || planned.shape != found.shape) return false;
  for (std::uint32_t d = 0; d < planned.rank; ++d)
    if (planned.shape[d] > 1 && planned.strides[d] != found.strides[d]) return false;
  return true;
}

/// tmajit.Plan.
class PythonPlan {
 public:
  PythonPlan(const OperationInfo& operation, Backend& backend, const Plan& plan, Results results,
             std::vector<TensorView> sources, Arguments arguments)
      : operation_(operation),
        backend_(backend),
        plans_{plan},
        plan_(&plans_.front()),
        results_(std::move(results)),
        sources_(std::move(sources)),
        arguments_(std::move(arguments)) {}

  nb::object call(const nb::args& given) const {
    CallTensors tensors;
    const std::size_t results = results_.views.size();
    nb::object made = nb::none();
    if (given.size() == results + sources_.size()) {
      for (std::size_t i = 0; i < results; ++i)
        tensors.destinations.push_back(read(given[i], "out", results_.views[i]));
      for (std::size_t i = 0; i < sources_.size(); ++i)
        tensors.sources.push_back(read(given[results + i], "a source", sources_[i]));
      if (results == 1) made = nb::borrow(given[0]);
    } else if (given.size() == sources_.size() && !sources_.empty()) {
      for (std::size_t i = 0; i < sources_.size(); ++i)
        tensors.sources.push_back(read(given[i], "a source", sources_[i]));
      const nb::list list = tensors.make(tensors.first(operation_), results_.views, results_.types);
      made = results == 1 ? nb::object(list[0]) : nb::object(nb::tuple(list));
    } else {
      throw Error(ErrorCode::invalid_argument,
                  std::string(operation_.name) + ": the plan takes " + std::to_string(results) +
                      " destinations and then " + std::to_string(sources_.size()) +
                      " sources, or the sources alone; found " + std::to_string(given.size()) + " tensors");
    }
    const Operand& like = tensors.first(operation_);
    tensors.check_device(operation_, like);
    if (&backend_of(like) != &backend_) {
      throw Error(ErrorCode::invalid_argument,
                  std::string(operation_.name) + ": the plan was made for tensors on another device");
    }
    launch(backend_, plan(), tensors, current_stream(like));
    return made;
  }

  [[nodiscard]] std::string source() const {
    return joined([](const KernelPlan& kernel) { return tmajit::source(kernel).text; });
  }
  [[nodiscard]] std::string ptx() const {
    std::string text;
    const nb::gil_scoped_release released;
    for (const Kernel& kernel : plan().kernels()) text += kernel.artifact().ptx;
    return text;
  }
  [[nodiscard]] std::string sass() const {
    const nb::gil_scoped_release released;
    // The simulated device's kernels have no cubin.
    return joined(
        [](const KernelPlan& kernel) { return disassemble(compile(tmajit::source(kernel)).cubin); });
  }
  [[nodiscard]] std::string explanation_text() const { return plan().explain().text(); }
  [[nodiscard]] std::string explanation() const { return explanation_json(plan().explain()); }
  [[nodiscard]] std::string described() const { return describe(plan()); }
  [[nodiscard]] std::string operation() const { return std::string(operation_.name); }
  [[nodiscard]] std::uint64_t bytes_moved() const { return plan().bytes_moved(); }
  [[nodiscard]] std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (const Kernel& kernel : plan().kernels()) names.push_back(kernel.entry());
    return names;
  }

  /// Measures the candidates on memory that it allocates, and uses the fastest one.
  nb::list tune(std::uint32_t repeats, bool store) {
    TuneReport report;
    {
      const nb::gil_scoped_release released;
      std::vector<Buffer> buffers;
      // The memory of a view with negative strides begins before its first element. The distance is computed
      // for a tensor at this address, which no memory needs to have.
      constexpr std::uint64_t any_address = std::uint64_t{1} << 40;
      const auto allocated = [&](const TensorView& view) {
        const std::span<std::byte> bytes = host_bytes({view, any_address});
        const Buffer& buffer = buffers.emplace_back(backend_.runtime.device(), bytes.size());
        const auto lowest = reinterpret_cast<std::uintptr_t>(bytes.data());
        return Tensor(view, bytes.empty() ? 0 : buffer.address() + (any_address - lowest));
      };
      std::vector<Tensor> destinations;
      std::vector<Tensor> sources;
      for (const TensorView& view : results_.views) destinations.push_back(allocated(view));
      for (const TensorView& view : sources_) sources.push_back(allocated(view));
      const auto planned = [&] {
        return tmajit::plan(
            backend_.runtime,
            make_operation(operation_.name, List<Tensor>(std::span(std::as_const(destinations))),
                           List<Tensor>(std::span(std::as_const(sources))), arguments_));
      };
      report = tmajit::tune(backend_.runtime, planned(), {.repeats = repeats, .store = store});
      if (store) {
        const Plan tuned = planned();
        const std::lock_guard lock(mutex_);
        plan_.store(&plans_.emplace_back(tuned), std::memory_order_release);
      }
      backend_.runtime.device()->streams().synchronize(nullptr);
    }
    nb::list candidates;
    for (const TuneReport::Candidate& candidate : report.candidates) {
      nb::dict described;
      described["choice"] = candidate.choice.text();
      described["predicted_us"] = candidate.predicted_us;
      described["microseconds"] = candidate.microseconds;
      candidates.append(described);
    }
    return candidates;
  }

 private:
  [[nodiscard]] const Plan& plan() const noexcept { return *plan_.load(std::memory_order_acquire); }

  /// Joins text(kernel) for each different kernel of the plan.
  template <class Text>
  [[nodiscard]] std::string joined(Text&& text) const {
    std::string all;
    std::vector<std::string_view> seen;
    for (const KernelPlan& kernel : plan().plans()) {
      if (std::ranges::find(seen, kernel.key()) != seen.end()) continue;
      seen.push_back(kernel.key());
      all += text(kernel);
    }
    return all;
  }

  [[nodiscard]] Operand read(nb::handle given, const char* name, const TensorView& planned) const {
    if (planned.is_number) return number_of_type(given, planned.type);
    Operand operand = read_operand(given, name);
    if (fits(planned, operand.tensor.view)) return operand;
    throw Error(ErrorCode::invalid_argument, std::string(operation_.name) + ": the plan takes " +
                                                 describe(planned) + " for " + name + "; found " +
                                                 describe(operand.tensor.view));
  }

  const OperationInfo& operation_;
  Backend& backend_;
  std::deque<Plan> plans_;  ///< tuning adds plans; other threads may launch the earlier ones
  std::mutex mutex_;        ///< guards additions to `plans_`
  std::atomic<const Plan*> plan_;
  Results results_;
  std::vector<TensorView> sources_;
  Arguments arguments_;
};

std::unique_ptr<PythonPlan> make_python_plan(std::uint32_t number, nb::handle sources, nb::handle out,
                                             nb::handle type_given, const nb::tuple& values,
                                             const std::string& family) {
  PlanRequest request(number, sources, out, type_given, values);
  std::vector<TensorView> views;
  for (const Operand& source : request.tensors.sources) views.push_back(source.tensor.view);
  const auto made = [&] {
    const nb::gil_scoped_release released;
    return plan(request.backend->runtime, request.made(), family);
  };
  return std::make_unique<PythonPlan>(request.operation, *request.backend, made(), std::move(request.results),
                                      std::move(views), std::move(request.arguments));
}

}  // namespace

void bind_plans(nb::module_& module) {
  nb::class_<PythonPlan>(module, "Plan")
      .def("__call__", &PythonPlan::call, nb::arg("tensors"))
      .def_prop_ro("source", &PythonPlan::source)
      .def_prop_ro("ptx", &PythonPlan::ptx)
      .def_prop_ro("sass", &PythonPlan::sass)
      .def_prop_ro("operation", &PythonPlan::operation)
      .def_prop_ro("bytes_moved", &PythonPlan::bytes_moved)
      .def_prop_ro("kernels", &PythonPlan::kernels)
      .def("_explanation", &PythonPlan::explanation)
      .def("_explanation_text", &PythonPlan::explanation_text)
      .def("_described", &PythonPlan::described)
      .def("_tune", &PythonPlan::tune);
  module.def("make_plan", &make_python_plan, nb::arg("operation"), nb::arg("sources"), nb::arg("out").none(),
             nb::arg("dtype").none(), nb::arg("values"), nb::arg("family"));
}

}  // namespace tmajit::python
