#include "kernels.hpp"

#include "kernel_arguments.hpp"
#include "runtimes.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>
#include <tmajit/machine/sass.hpp>
#include <tmajit/own_kernel.hpp>

#include <algorithm>
#include <utility>

#include <nanobind/stl/pair.h>
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

/// tmajit.Kernel.
class PythonKernel {
 public:
  PythonKernel(std::string text, std::string entry, const nb::dict& constants, Pairs headers,
               const std::vector<std::string>& include, std::string file) {
    OwnKernel kernel{.text = std::move(text),
                     .file = std::move(file),
                     .entry = std::move(entry),
                     .headers = std::move(headers),
                     .include_folders = {include.begin(), include.end()},
                     .constants = {}};
    for (const auto& [name, value] : constants)
      kernel.constants.push_back(constant_of(nb::cast<std::string>(name), value));
    const nb::gil_scoped_release released;
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
    const LaunchShape shape{.grid = to_extent(grid, "grid"),
                            .block = to_extent(block, "block"),
                            .shared_bytes = shared_bytes,
                            .cluster = to_extent(cluster, "cluster"),
                            .cooperative = cooperative};
    if (arguments.operands.empty())
      throw Error(ErrorCode::invalid_argument,
                  "a kernel needs an array or a tensor map, which says where it runs");
    const Operand& like = arguments.operands.front();
    Backend& backend = backend_of(like);
    for (const Operand& operand : arguments.operands) {
      if (&backend_of(operand) != &backend)
        throw Error(ErrorCode::invalid_argument, "all arrays of a launch must be on one device");
    }
    const Stream stream = current_stream(like);
    const std::vector<Tensor> tensors = arguments.tensors();
    const nb::gil_scoped_release released;
    const Kernel kernel = backend.runtime.kernel(source_, shared_bytes);
    run_at(backend, tensors, stream,
           [&](Stream on) { kernel.prepare(own_launch(arguments, tensors, shape))(on); });
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

}  // namespace

void bind_kernels(nb::module_& module) {
  nb::class_<PythonKernel>(module, "Kernel")
      .def(nb::init<std::string, std::string, nb::dict, Pairs, std::vector<std::string>, std::string>(),
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
}

}  // namespace tmajit::python
