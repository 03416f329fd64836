#include "chains.hpp"

#include "arguments.hpp"
#include "calls.hpp"
#include "numbers.hpp"

#include <tmajit/error.hpp>
#include <tmajit/fusion.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tmajit::python {
namespace {

/// The calls of a tmajit.Chain. The chain is planned for results at addresses that no real tensor has. A run
/// allocates the results that the fused operations need, and launches the plans on them.
class PythonChain {
 public:
  /// Adds a call. A source is a tensor, a number, or a tuple that holds the number of an earlier result.
  /// Returns the numbers of the results.
  std::vector<std::size_t> add(std::uint32_t number, const nb::tuple& given, nb::handle type_given,
                               const nb::tuple& values) {
    const OperationInfo& operation = operations()[number];
    std::vector<Operand> sources;
    for (const nb::handle source : given) {
      if (PyTuple_Check(source.ptr())) {
        const Result& result = results_.at(nb::cast<std::size_t>(source[0]));
        sources.emplace_back().tensor = result.tensor;
        sources.back().type = result.type;
        sources.back().device = like_.device;
      } else if (operation.takes_numbers && is_number(source)) {
        read_number(sources.emplace_back(), source);
      } else {
        sources.push_back(read_operand(source, "a source"));
        given_.push_back(nb::borrow(source));
        check_device(operation, sources.back());
      }
    }
    set_numbers(sources, {});
    const Arguments arguments = to_arguments(operation, values);
    check_types(operation, sources, arguments);
    const DataType* const type = type_given.is_none() ? nullptr : &data_type(type_given);
    const Results results = results_of(operation, sources, type, arguments);
    std::vector<Tensor> from;
    for (const Operand& source : sources) from.push_back(source.tensor);
    std::vector<Result> made;
    std::vector<Tensor> to;
    for (std::size_t i = 0; i < results.views.size(); ++i) {
      to.emplace_back(results.views[i], next_address_);
      made.push_back({to.back(), results.types[i]});
      next_address_ += (results.views[i].span_bytes() + 511) / 256 * 256;
    }
    operations_.push_back(make_operation(operation.name, List<Tensor>(std::span(std::as_const(to))),
                                         List<Tensor>(std::span(std::as_const(from))), arguments));
    std::vector<std::size_t> numbers;
    for (const Result& result : made) {
      numbers.push_back(results_.size());
      results_.push_back(result);
    }
    planned_.clear();
    last_ = nullptr;
    for (const Operand& source : sources)
      if (source.library != nullptr) tensors_.push_back(source.tensor);
    return numbers;
  }

  /// Computes results, and returns them as new tensors. All other results are intermediate tensors. The first
  /// run for these results plans the chain.
  nb::list run(const std::vector<std::size_t>& wanted) {
    if (like_.library == nullptr)
      throw Error(ErrorCode::invalid_argument, "the chain has no source that is a tensor");
    Backend& backend = backend_of(like_);
    if (!planned_.contains(wanted)) {
      auto made = make_plan(backend, wanted);  // releases the GIL, so planned_ changes afterwards
      planned_.emplace(wanted, std::move(made));
    }
    const std::shared_ptr<const Planned> planned = last_ = planned_.at(wanted);
    std::vector<Tensor> mapped = tensors_;
    std::vector<MovedTensor> moved;
    std::vector<nb::object> memory(results_.size());
    for (const std::size_t r : planned->stored) {
      const Result& result = results_[r];
      const TensorView& view = result.tensor.view;
      Operand made;
      memory[r] = allocate(like_, *result.type, std::span(view.shape).first(view.rank), made);
      made.tensor.view.type = view.type;
      mapped.push_back(made.tensor);
      moved.push_back({result.tensor, made.tensor.address});
    }
    const Stream stream = current_stream(like_);
    {
      const nb::gil_scoped_release released;
      run_at(backend, mapped, stream,
             [&](Stream on) { planned->plan(List<MovedTensor>(std::span(std::as_const(moved))), on); });
      if (like_.waits_for_launches()) backend.runtime.device()->streams().synchronize(stream);
    }
    nb::list made;
    for (const std::size_t r : wanted) made.append(memory[r]);
    return made;
  }

  [[nodiscard]] std::vector<std::string> sentences() const {
    if (last_ == nullptr) return {};
    return {last_->plan.sentences().begin(), last_->plan.sentences().end()};
  }
  [[nodiscard]] std::vector<std::string> kernels() const {
    std::vector<std::string> entries;
    if (last_ == nullptr) return entries;
    for (const Plan& one : last_->plan.plans())
      for (const Kernel& kernel : one.kernels()) entries.push_back(kernel.entry());
    return entries;
  }

 private:
  struct Result {
    Tensor tensor;  ///< at an address that no real tensor has
    const DataType* type = nullptr;
  };
  /// The chain, planned for some results.
  struct Planned {
    ChainPlan plan;
    std::vector<std::size_t> stored;  ///< results that the fused operations read or write
  };

  void check_device(const OperationInfo& operation, const Operand& source) {
    if (like_.library == nullptr) like_ = source;
    if (source.on_gpu() == like_.on_gpu() &&
        (!source.on_gpu() || source.device.device_id == like_.device.device_id))
      return;
    throw Error(ErrorCode::invalid_argument,
                std::string(operation.name) + ": all tensors of a chain must be on one device");
  }

  std::shared_ptr<const Planned> make_plan(Backend& backend, const std::vector<std::size_t>& wanted) {
    std::vector<Tensor> unused;
    std::vector<bool> is_stored(results_.size());
    for (const std::size_t r : wanted) is_stored.at(r) = true;
    for (std::size_t r = 0; r < results_.size(); ++r)
      if (!is_stored[r]) unused.push_back(results_[r].tensor);
    const Fusion fusion = fuse(List<Operation>(std::span(std::as_const(operations_))),
                               List<Tensor>(std::span(std::as_const(unused))));
    const auto store = [&](const Tensor& tensor) {
      if (tensor.view.is_number || tensor.address < first_address) return;
      const auto after = std::ranges::upper_bound(results_, tensor.address, {},
                                                  [](const Result& result) { return result.tensor.address; });
      is_stored[static_cast<std::size_t>(after - results_.begin()) - 1] = true;
    };
    for (const Operation& operation : fusion.operations) {
      for (const Move& move : operation.moves) {
        store(move.destination);
        for (const Tensor& source : move.sources) store(source);
      }
    }
    std::vector<std::size_t> stored;
    for (std::size_t r = 0; r < is_stored.size(); ++r)
      if (is_stored[r]) stored.push_back(r);
    const nb::gil_scoped_release released;
    return std::make_shared<const Planned>(Planned{plan(backend.runtime, fusion), std::move(stored)});
  }

  static constexpr DevicePtr first_address = std::uint64_t{1} << 60;
  DevicePtr next_address_ = first_address;
  Operand like_;                   ///< the first source that is a tensor
  std::vector<nb::object> given_;  ///< keeps the caller's tensors alive
  std::vector<Tensor> tensors_;    ///< the caller's tensors
  std::vector<Operation> operations_;
  std::vector<Result> results_;
  std::map<std::vector<std::size_t>, std::shared_ptr<const Planned>> planned_;  ///< by wanted results
  std::shared_ptr<const Planned> last_;                                         ///< of the last run()
};

}  // namespace

void bind_chains(nb::module_& module) {
  nb::class_<PythonChain>(module, "Chain")
      .def(nb::init<>())
      .def("add", &PythonChain::add, nb::arg("operation"), nb::arg("sources"), nb::arg("dtype").none(),
           nb::arg("values"))
      .def("run", &PythonChain::run, nb::arg("results"))
      .def_prop_ro("sentences", &PythonChain::sentences)
      .def_prop_ro("kernels", &PythonChain::kernels);
}

}  // namespace tmajit::python
