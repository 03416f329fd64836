#include "chains.hpp"

#include "arguments.hpp"
#include "calls.hpp"
#include "numbers.hpp"

#include <tmajit/error.hpp>
#include <tmajit/fusion.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tmajit::python {
namespace {

/// The calls of a tmajit.Chain. Results are at addresses that no real tensor has, until run() makes those
/// that the fused operations need.
class PythonChain {
 public:
  /// Adds a call. A source is a tensor, a number, or an int: the number of an earlier result in a tuple.
  /// Returns the numbers of the results.
  std::vector<std::size_t> add(std::uint32_t number, const nb::tuple& given, nb::handle type_given,
                               const nb::tuple& values) {
    const OperationInfo& operation = operations()[number];
    std::vector<Operand> sources;
    for (const nb::handle source : given) {
      if (PyTuple_Check(source.ptr())) {
        sources.push_back(results_.at(nb::cast<std::size_t>(source[0])).operand);
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
      Result& result = made.emplace_back();
      result.operand.tensor = {results.views[i], next_address_};
      result.operand.type = results.types[i];
      result.operand.device = like_.device;
      to.push_back(result.operand.tensor);
      next_address_ += (results.views[i].span_bytes() + 511) / 256 * 256;
    }
    operations_.push_back(make_operation(operation.name, List<Tensor>(std::span(std::as_const(to))),
                                         List<Tensor>(std::span(std::as_const(from))), arguments));
    std::vector<std::size_t> numbers;
    for (Result& result : made) {
      numbers.push_back(results_.size());
      results_.push_back(std::move(result));
    }
    for (const Operand& source : sources)
      if (source.library != nullptr) tensors_.push_back(source.tensor);
    return numbers;
  }

  /// Computes results, and returns them as new tensors. All other results are intermediate tensors.
  nb::list run(const std::vector<std::size_t>& wanted) {
    if (like_.library == nullptr)
      throw Error(ErrorCode::invalid_argument, "the chain has no source that is a tensor");
    std::vector<Tensor> unused;
    for (std::size_t r = 0; r < results_.size(); ++r)
      if (std::ranges::find(wanted, r) == wanted.end()) unused.push_back(results_[r].operand.tensor);
    Fusion fusion = fuse(List<Operation>(std::span(std::as_const(operations_))),
                         List<Tensor>(std::span(std::as_const(unused))));
    allocate_results(fusion, wanted);
    for (Operation& operation : fusion.operations) place(operation);
    std::vector<Tensor> mapped = tensors_;
    for (const Result& result : results_)
      if (result.memory.is_valid()) mapped.push_back(result.made.tensor);
    Backend& backend = backend_of(like_);
    const Stream stream = current_stream(like_);
    {
      const nb::gil_scoped_release released;
      const ChainPlan chain = plan(backend.runtime, fusion);
      kernels_.clear();
      for (const Plan& one : chain.plans())
        for (const Kernel& kernel : one.kernels()) kernels_.push_back(kernel.entry());
      run_at(backend, mapped, stream, [&](Stream on) { chain(on); });
      if (like_.waits_for_launches()) backend.runtime.device()->streams().synchronize(stream);
    }
    sentences_ = std::move(fusion.sentences);
    nb::list made;
    for (const std::size_t r : wanted) made.append(results_.at(r).memory);
    for (Result& result : results_) {
      result.memory.reset();
      result.made = {};
    }
    return made;
  }

  [[nodiscard]] const std::vector<std::string>& sentences() const noexcept { return sentences_; }
  [[nodiscard]] const std::vector<std::string>& kernels() const noexcept { return kernels_; }

 private:
  struct Result {
    Operand operand;    ///< at an address that no real tensor has
    Operand made = {};  ///< in memory, while `memory` is valid
    nb::object memory = {};
  };

  void check_device(const OperationInfo& operation, const Operand& source) {
    if (like_.library == nullptr) like_ = source;
    if (source.on_gpu() == like_.on_gpu() &&
        (!source.on_gpu() || source.device.device_id == like_.device.device_id))
      return;
    throw Error(ErrorCode::invalid_argument,
                std::string(operation.name) + ": all tensors of a chain must be on one device");
  }

  /// The result in whose place an address is; null for an address of the caller's memory.
  Result* result_at(const Tensor& tensor) {
    if (tensor.view.is_number || tensor.address < first_address) return nullptr;
    const auto after = std::ranges::upper_bound(
        results_, tensor.address, {}, [](const Result& result) { return result.operand.tensor.address; });
    return after == results_.begin() ? nullptr : &*(after - 1);
  }

  void allocate_result(Result& result) {
    if (result.memory.is_valid()) return;
    const TensorView& view = result.operand.tensor.view;
    result.memory =
        allocate(like_, *result.operand.type, std::span(view.shape).first(view.rank), result.made);
    result.made.tensor.view.type = view.type;
  }
  void allocate_results(const Fusion& fusion, const std::vector<std::size_t>& wanted) {
    for (const std::size_t r : wanted) allocate_result(results_.at(r));
    for (const Operation& operation : fusion.operations) {
      for (const Move& move : operation.moves) {
        if (Result* const result = result_at(move.destination)) allocate_result(*result);
        for (const Tensor& source : move.sources)
          if (Result* const result = result_at(source)) allocate_result(*result);
      }
    }
  }

  void place(Tensor& tensor) {
    const Result* const result = result_at(tensor);
    if (result != nullptr)
      tensor.address = result->made.tensor.address + (tensor.address - result->operand.tensor.address);
  }
  void place(Operation& operation) {
    for (std::vector<Tensor>* const tensors : {&operation.destinations, &operation.sources})
      for (Tensor& tensor : *tensors) place(tensor);
    for (Move& move : operation.moves) {
      place(move.destination);
      for (Tensor& source : move.sources) place(source);
    }
  }

  static constexpr DevicePtr first_address = std::uint64_t{1} << 60;
  DevicePtr next_address_ = first_address;
  Operand like_;                   ///< the first source that is a tensor
  std::vector<nb::object> given_;  ///< keeps the caller's tensors alive
  std::vector<Tensor> tensors_;    ///< of the caller
  std::vector<Operation> operations_;
  std::vector<Result> results_;
  std::vector<std::string> sentences_;
  std::vector<std::string> kernels_;
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
