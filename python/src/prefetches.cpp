#include "prefetches.hpp"

#include "plan_request.hpp"

#include <tmajit/error.hpp>
#include <tmajit/prefetch.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tmajit::python {
namespace {

/// tmajit.Prefetch. Background threads never call Python, which may end before they do.
class PythonPrefetch {
 public:
  explicit PythonPrefetch(Prefetch prefetch) : prefetch_(std::move(prefetch)) {}

  [[nodiscard]] std::size_t done() const { return prefetch_.done(); }
  [[nodiscard]] std::size_t made() const { return prefetch_.made(); }
  [[nodiscard]] std::size_t total() const { return prefetch_.total(); }
  void cancel() const { prefetch_.cancel(); }
  [[nodiscard]] bool wait_for(std::uint32_t milliseconds) const {
    const nb::gil_scoped_release released;
    return prefetch_.wait_for(std::chrono::milliseconds(milliseconds));
  }
  [[nodiscard]] nb::list failures() const {
    nb::list all;
    for (const Prefetch::Failure& failure : prefetch_.failures())
      all.append(nb::make_tuple(failure.kernel, failure.error));
    return all;
  }

 private:
  Prefetch prefetch_;
};

/// Each call is a tuple: the operation's number, its sources, out, dtype, and the values of its arguments.
std::unique_ptr<PythonPrefetch> make_prefetch(const nb::list& calls, std::uint32_t threads) {
  std::vector<Operation> operations;
  Backend* backend = nullptr;
  for (const nb::handle given : calls) {
    const auto call = nb::cast<nb::tuple>(given);
    const PlanRequest request(nb::cast<std::uint32_t>(call[0]), call[1], call[2], call[3],
                              nb::cast<nb::tuple>(call[4]));
    if (backend != nullptr && backend != request.backend) {
      throw Error(ErrorCode::invalid_argument,
                  "prefetch: the calls have tensors on different devices; prefetch each device's by itself");
    }
    backend = request.backend;
    operations.push_back(request.made());
  }
  if (backend == nullptr) throw Error(ErrorCode::invalid_argument, "prefetch: there is no call to prefetch");
  const nb::gil_scoped_release released;
  return std::make_unique<PythonPrefetch>(prefetch(
      backend->runtime, List<Operation>(std::span(std::as_const(operations))), {.threads = threads}));
}

}  // namespace

void bind_prefetches(nb::module_& module) {
  nb::class_<PythonPrefetch>(module, "Prefetch")
      .def_prop_ro("done", &PythonPrefetch::done)
      .def_prop_ro("made", &PythonPrefetch::made)
      .def_prop_ro("total", &PythonPrefetch::total)
      .def_prop_ro("failures", &PythonPrefetch::failures)
      .def("cancel", &PythonPrefetch::cancel)
      .def("_wait_for", &PythonPrefetch::wait_for);
  module.def("make_prefetch", &make_prefetch, nb::arg("calls"), nb::arg("threads"));
}

}  // namespace tmajit::python
