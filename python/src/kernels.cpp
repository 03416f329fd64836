#include "kernels.hpp"

#include "kernel_arguments.hpp"
#include "runtimes.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>
#include <tmajit/machine/sass.hpp>
#include <tmajit/own_kernel.hpp>
#include <tmajit/own_tuning.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace tmajit::python {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

KernelConstant constant_of(const std::string& name, nb::handle value) {
  if (PyBool_Check(value.ptr())) return {name, nb::cast<bool>(value)};
  if (PyFloat_Check(value.ptr())) return {name, nb::cast<double>(value)};
  if (PyUnicode_Check(value.ptr())) return KernelConstant::parse(name, nb::cast<std::string>(value));
  return KernelConstant::parse(name, nb::cast<std::string>(nb::str(value)));
}

OwnKernel own_kernel(std::string text, std::string entry, const nb::dict& constants, Pairs headers,
                     const std::vector<std::string>& include, std::string file) {
  OwnKernel kernel{.text = std::move(text),
                   .file = std::move(file),
                   .entry = std::move(entry),
                   .headers = std::move(headers),
                   .include_folders = {include.begin(), include.end()},
                   .constants = {}};
  for (const auto& [name, value] : constants)
    kernel.constants.push_back(constant_of(nb::cast<std::string>(name), value));
  return kernel;
}

/// The arguments after a kernel's own in kernel(…).
LaunchShape shape_of(nb::handle grid, nb::handle block, std::uint32_t shared_bytes, nb::handle cluster,
                     bool cooperative) {
  return {.grid = to_extent(grid, "grid"),
          .block = to_extent(block, "block"),
          .shared_bytes = shared_bytes,
          .cluster = to_extent(cluster, "cluster"),
          .cooperative = cooperative};
}

/// The backend of all operands of a launch.
Backend& backend_of(std::span<const Operand> operands) {
  if (operands.empty())
    throw Error(ErrorCode::invalid_argument,
                "a kernel needs an array or a tensor map, which says where it runs");
  Backend& backend = backend_of(operands.front());
  for (const Operand& operand : operands) {
    if (&backend_of(operand) != &backend)
      throw Error(ErrorCode::invalid_argument, "all arrays of a launch must be on one device");
  }
  return backend;
}

/// tmajit.Kernel.
class PythonKernel {
 public:
  /// The caller must not hold the GIL.
  explicit PythonKernel(const OwnKernel& kernel) {
    source_ = tmajit::source(kernel);
    const Artifact artifact = simulated_kernel(0).artifact();
    ptx_ = artifact.ptx;
    const std::vector<PtxKernel> kernels = kernels_of(ptx_, kernel.file);
    const auto found = std::ranges::find(kernels, artifact.entry, &PtxKernel::name);
    if (found == kernels.end())
      throw Error(ErrorCode::internal, "the kernel " + artifact.entry + " is not in its own PTX");
    entry_ = *found;
  }

  void call(const nb::args& given, nb::handle grid, nb::handle block, std::uint32_t shared_bytes,
            nb::handle cluster, bool cooperative) const {
    const KernelArguments arguments(given, entry_);
    const LaunchShape shape = shape_of(grid, block, shared_bytes, cluster, cooperative);
    Backend& backend = backend_of(arguments.operands);
    const Stream stream = current_stream(arguments.operands.front());
    const std::vector<Tensor> tensors = arguments.tensors();
    const nb::gil_scoped_release released;
    const Kernel kernel = backend.runtime.kernel(source_, shared_bytes);
    run_at(backend, tensors, stream,
           [&](Stream on) { kernel.prepare(own_launch(arguments, tensors, shape))(on); });
  }

  /// The launch of kernel(*given, …), and the backend of its arrays.
  [[nodiscard]] std::pair<OwnLaunch, Backend*> launch_of(const nb::tuple& given,
                                                         const LaunchShape& shape) const {
    const KernelArguments arguments(given, entry_);
    return {own_launch(arguments, arguments.tensors(), shape), &backend_of(arguments.operands)};
  }

  [[nodiscard]] const std::string& source() const { return source_.text; }
  [[nodiscard]] const std::string& ptx() const { return ptx_; }
  [[nodiscard]] const std::string& entry() const { return entry_.name; }
  [[nodiscard]] std::string sass() const {
    const nb::gil_scoped_release released;
    return disassemble(compile(source_).cubin);
  }
  [[nodiscard]] std::vector<std::string> parameters() const {
    std::vector<std::string> declared;
    for (const PtxParameter& parameter : entry_.parameters) declared.push_back(parameter.declaration);
    return declared;
  }

 private:
  [[nodiscard]] Kernel simulated_kernel(std::uint32_t shared_bytes) const {
    const nb::gil_scoped_acquire acquired;
    Backend& backend = simulated_backend();
    const nb::gil_scoped_release released;
    return backend.runtime.kernel(source_, shared_bytes);
  }

  static OwnLaunch own_launch(const KernelArguments& arguments, const std::vector<Tensor>& tensors,
                              const LaunchShape& shape) {
    OwnLaunch launch{.tensors = tensors, .arguments = {}, .shape = shape};
    for (const KernelArguments::Value& value : arguments.values) {
      if (value.map >= 0) {
        const KernelArguments::Map& map = arguments.maps[static_cast<std::size_t>(value.map)];
        launch.arguments.emplace_back(
            MapArgument{.tensor = static_cast<std::uint32_t>(map.operand), .spec = map.spec});
      } else if (value.operand >= 0) {
        launch.arguments.emplace_back(AddressArgument{.tensor = static_cast<std::uint32_t>(value.operand)});
      } else {
        const auto size = static_cast<std::uint32_t>(value.bytes.size());
        const std::uint32_t alignment = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
        launch.arguments.emplace_back(ValueArgument{.bytes = value.bytes, .alignment = alignment});
      }
    }
    return launch;
  }

  Source source_;
  std::string ptx_;
  PtxKernel entry_;
};

/// One call kernel(*arguments, …) that a tuning measures.
struct Call {
  nb::tuple arguments;
  LaunchShape shape;
};

/// Measures a kernel for all combinations of constants. `calls` has a Call for each of them, in the order of
/// combinations(), or a str with the reason why there is none.
class KernelTuning {
 public:
  KernelTuning(OwnKernel kernel, std::vector<ConstantChoices> choices, const nb::list& calls)
      : kernel_(std::move(kernel)), choices_(std::move(choices)) {
    for (const nb::handle call : calls) {
      if (PyUnicode_Check(call.ptr()))
        calls_.emplace_back(nb::cast<std::string>(call));
      else
        calls_.emplace_back(nb::cast<Call>(call));
    }
  }

  /// The caller holds the GIL.
  [[nodiscard]] OwnTuneReport run(std::uint32_t repeats, nb::handle progress) const {
    const OwnTuneOptions options{
        .repeats = repeats,
        .progress = progress.is_none()
                        ? std::function<void(std::uint32_t, std::uint32_t, std::string_view)>{}
                        : [&](std::uint32_t done, std::uint32_t candidates, std::string_view constants) {
                            const nb::gil_scoped_acquire acquired;
                            progress(done, candidates, std::string(constants));
                          }};
    const nb::gil_scoped_release released;
    return tmajit::tune(
        backend().runtime, choices_,
        [&](const std::vector<KernelConstant>& constants) {
          const OwnKernel kernel = kernel_.with(constants);
          return OwnVariant{kernel, launch_of(kernel, call_of(constants)).first};
        },
        options);
  }

  [[nodiscard]] const OwnKernel& kernel() const noexcept { return kernel_; }

 private:
  /// The backend of the first combination that can be compiled. If there is none, throws the first one's
  /// error.
  [[nodiscard]] Backend& backend() const {
    std::exception_ptr first;
    for (const std::vector<KernelConstant>& constants : combinations(choices_)) {
      try {
        return *launch_of(kernel_.with(constants), call_of(constants)).second;
      } catch (const Error&) {
        if (!first) first = std::current_exception();
      }
    }
    std::rethrow_exception(first);
  }

  [[nodiscard]] const Call& call_of(const std::vector<KernelConstant>& constants) const {
    const std::size_t number = combination_number(choices_, constants);
    if (const auto* const call = std::get_if<Call>(&calls_.at(number))) return *call;
    throw Error(ErrorCode::invalid_argument, std::get<std::string>(calls_[number]));
  }

  /// Several threads call it, without the GIL.
  static std::pair<OwnLaunch, Backend*> launch_of(const OwnKernel& kernel, const Call& call) {
    const PythonKernel compiled(kernel);
    const nb::gil_scoped_acquire acquired;
    try {
      return compiled.launch_of(call.arguments, call.shape);
    } catch (const nb::builtin_exception& error) {
      throw Error(ErrorCode::invalid_argument, error.what());
    }
  }

  OwnKernel kernel_;
  std::vector<ConstantChoices> choices_;
  std::vector<std::variant<std::string, Call>> calls_;
};

nb::dict to_dict(const std::vector<KernelConstant>& constants) {
  nb::dict values;
  for (const KernelConstant& constant : constants)
    std::visit([&](auto value) { values[constant.name.c_str()] = value; }, constant.value);
  return values;
}

nb::tuple tune(std::string text, std::string entry, const nb::dict& constants, Pairs headers,
               const std::vector<std::string>& include, std::string file, const nb::dict& choices,
               const nb::list& calls, std::uint32_t repeats, nb::handle progress) {
  std::vector<ConstantChoices> tried;
  for (const auto& [name, values] : choices) {
    ConstantChoices& choice = tried.emplace_back(nb::cast<std::string>(name));
    for (const nb::handle value : nb::borrow<nb::object>(values))
      choice.values.push_back(constant_of(choice.name, value).value);
  }
  const KernelTuning tuning(
      own_kernel(std::move(text), std::move(entry), constants, std::move(headers), include, std::move(file)),
      std::move(tried), calls);
  const OwnTuneReport report = tuning.run(repeats, progress);
  nb::list candidates;
  for (const OwnTuneReport::Candidate& candidate : report.candidates)
    candidates.append(nb::make_tuple(to_dict(candidate.constants), candidate.microseconds));
  nb::list left_out;
  for (const OwnTuneReport::LeftOut& one : report.left_out)
    left_out.append(nb::make_tuple(to_dict(one.constants), one.why));
  const OwnKernel best = tuning.kernel().with(report.candidates.front().constants);
  const auto compiled = [&] {
    const nb::gil_scoped_release released;
    return PythonKernel(best);
  };
  return nb::make_tuple(compiled(), candidates, left_out);
}

}  // namespace

void bind_kernels(nb::module_& module) {
  nb::class_<PythonKernel>(module, "Kernel")
      .def(nb::new_([](std::string text, std::string entry, const nb::dict& constants, Pairs headers,
                       const std::vector<std::string>& include, std::string file) {
             const OwnKernel kernel = own_kernel(std::move(text), std::move(entry), constants,
                                                 std::move(headers), include, std::move(file));
             const nb::gil_scoped_release released;
             return std::make_unique<PythonKernel>(kernel);
           }),
           nb::arg("text"), nb::arg("entry"), nb::arg("constants"), nb::arg("headers"), nb::arg("include"),
           nb::arg("file"))
      .def("__call__", &PythonKernel::call, nb::arg("arguments"), nb::kw_only(), nb::arg("grid") = 1,
           nb::arg("block") = 1, nb::arg("shared_bytes") = 0, nb::arg("cluster") = 1,
           nb::arg("cooperative") = false)
      .def_prop_ro("source", &PythonKernel::source)
      .def_prop_ro("ptx", &PythonKernel::ptx)
      .def_prop_ro("sass", &PythonKernel::sass)
      .def_prop_ro("entry", &PythonKernel::entry)
      .def_prop_ro("parameters", &PythonKernel::parameters);
  nb::class_<Call>(module, "KernelCall")
      .def(nb::new_([](const nb::tuple& arguments, nb::handle grid, nb::handle block,
                       std::uint32_t shared_bytes, nb::handle cluster, bool cooperative) {
             return Call{arguments, shape_of(grid, block, shared_bytes, cluster, cooperative)};
           }),
           nb::arg("arguments"), nb::kw_only(), nb::arg("grid") = 1, nb::arg("block") = 1,
           nb::arg("shared_bytes") = 0, nb::arg("cluster") = 1, nb::arg("cooperative") = false);
  module.def("tune_kernel", &tune, nb::arg("text"), nb::arg("entry"), nb::arg("constants"),
             nb::arg("headers"), nb::arg("include"), nb::arg("file"), nb::arg("choices"), nb::arg("calls"),
             nb::arg("repeats"), nb::arg("progress").none());
}

}  // namespace tmajit::python
