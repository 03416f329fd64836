#include "kernel_arguments.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace tmajit::python {
namespace {

[[noreturn]] void refuse(const PtxParameter& parameter, std::size_t number, const char* accepted,
                         nb::handle found) {
  const std::string message = "argument " + std::to_string(number) + " (" + parameter.declaration +
                              ") takes " + accepted + "; found " + nb::cast<std::string>(nb::repr(found));
  PyErr_SetString(PyExc_TypeError, message.c_str());
  nb::raise_python_error();
}

template <class T>
std::vector<std::byte> bytes_of(const T& value, std::size_t count = sizeof(T)) {
  std::vector<std::byte> bytes(count);
  std::memcpy(bytes.data(), &value, std::min(count, sizeof(T)));
  return bytes;
}

std::vector<std::byte> number_bytes(const PtxParameter& parameter, std::size_t number, nb::handle value) {
  const std::string_view declared = parameter.declaration;
  const auto is = [&](const char* type) { return declared.find(type) != std::string_view::npos; };
  if (is(".f32") || is(".f64")) {
    const double given = PyFloat_AsDouble(value.ptr());
    if (given == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse(parameter, number, "a number", value);
    }
    return is(".f64") ? bytes_of(given) : bytes_of(static_cast<float>(given));
  }
  if (parameter.bytes > 8) refuse(parameter, number, "a tensor map, or the bytes of a struct", value);
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    refuse(parameter, number, "a whole number, a NumPy scalar or an array", value);
  }
  // Accepts signed and unsigned numbers that fit the parameter's bytes.
  std::uint64_t bits = 0;
  const long long given = PyLong_AsLongLong(index.ptr());
  if (given == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    bits = PyLong_AsUnsignedLongLong(index.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse(parameter, number, "a number of at most 64 bits", value);
    }
  } else {
    bits = static_cast<std::uint64_t>(given);
  }
  const auto width = 8 * parameter.bytes;
  if (width < 64) {
    const std::int64_t least = -(std::int64_t{1} << (width - 1));
    const std::int64_t most = (std::int64_t{1} << width) - 1;
    if (given < least || given > most) refuse(parameter, number, "a number that fits its bytes", value);
  }
  return bytes_of(bits, parameter.bytes);
}

/// Reads the bytes of a NumPy scalar or of a bytes object. Returns false for other objects.
bool raw_bytes(nb::handle value, std::vector<std::byte>& bytes) {
  nb::object text;
  if (PyBytes_Check(value.ptr())) {
    text = nb::borrow(value);
  } else if (nb::hasattr(value, "tobytes") && nb::hasattr(value, "dtype") && !nb::hasattr(value, "ctypes") &&
             !nb::hasattr(value, "__dlpack__")) {
    text = value.attr("tobytes")();
  } else {
    return false;
  }
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(text.ptr(), &data, &size) != 0) nb::raise_python_error();
  const auto* const first = reinterpret_cast<const std::byte*>(data);
  bytes.assign(first, first + size);
  return true;
}

bool is_tensor(nb::handle value) {
  return nb::hasattr(value, "__dlpack__") || nb::hasattr(value.type(), "__dlpack_c_exchange_api__");
}

/// Sets `to` from a sequence of `count` whole numbers. Throws Error{invalid_argument} for another count.
/// Numbers beyond the end of `to` are dropped: TensorMapSpec::of() rejects a map with so many dimensions.
template <class T, std::size_t size>
void set_numbers(std::array<T, size>& to, nb::handle values, std::size_t count, const char* name) {
  std::size_t found = 0;
  for (const nb::handle value : nb::borrow<nb::object>(values)) {
    if (found < size) to[found] = nb::cast<T>(value);
    ++found;
  }
  if (found != count)
    throw Error(ErrorCode::invalid_argument, std::string(name) + " needs " + std::to_string(count) +
                                                 " numbers; found " + std::to_string(found));
}

/// The options that tiled and im2col maps share.
struct MapOptions {
  std::string_view swizzle;
  std::string_view l2;
  std::string_view oob;
  nb::handle element_strides;
  std::string_view interleave;
};

/// The view that a map of `tensor` describes. With an interleaved layout the tensor's last dimension is a
/// slice of channels: an element of the map, and not one of its dimensions.
TensorView view_of(nb::handle tensor, Interleave interleave) {
  TensorView view = read_operand(tensor, "the tensor").tensor.view;
  if (interleave == Interleave::none) return view;
  const std::uint64_t slice = interleave == Interleave::b16 ? 16 : 32;
  const std::uint32_t last = view.rank - 1;
  if (view.rank < 2 || view.shape[last] * size_of(view.type) != slice || view.strides[last] != 1)
    throw Error(ErrorCode::invalid_argument, "with interleave " + std::string(name(interleave)) +
                                                 " the last dimension must be a dense slice of channels, " +
                                                 std::to_string(slice) + " bytes");
  view.rank = last;
  return view;
}

TensorMapSpec spec_of(const MapOptions& options, std::uint32_t rank) {
  TensorMapSpec spec{.interleave = parse<Interleave>(options.interleave),
                     .swizzle = parse<Swizzle>(options.swizzle),
                     .l2_promotion = parse<L2Promotion>(options.l2),
                     .oob_fill = parse<OobFill>(options.oob)};
  if (!options.element_strides.is_none())
    set_numbers(spec.element_strides, options.element_strides, rank, "element_strides");
  return spec;
}

PythonTensorMap make_tiled(nb::object tensor, nb::handle box, const MapOptions& options) {
  const TensorView view = view_of(tensor, parse<Interleave>(options.interleave));
  TensorMapSpec spec = spec_of(options, view.rank);
  set_numbers(spec.box, box, view.rank, "box");
  return {std::move(tensor), TensorMapSpec::of(view, spec)};
}

PythonTensorMap make_im2col(nb::object tensor, std::uint32_t channels, std::uint32_t pixels, nb::handle lower,
                            nb::handle upper, const MapOptions& options) {
  const TensorView view = view_of(tensor, parse<Interleave>(options.interleave));
  TensorMapSpec spec = spec_of(options, view.rank);
  spec.mode = MapMode::im2col;
  spec.pixel_box.channels = channels;
  spec.pixel_box.pixels = pixels;
  const std::uint32_t dimensions = std::max(view.rank, 2U) - 2;
  if (!lower.is_none()) set_numbers(spec.pixel_box.lower, lower, dimensions, "lower");
  if (!upper.is_none()) set_numbers(spec.pixel_box.upper, upper, dimensions, "upper");
  return {std::move(tensor), TensorMapSpec::of(view, spec)};
}

std::string shown(const PythonTensorMap& map) {
  std::string text = "<tmajit.TensorMap of " + std::string(name(map.spec.type)) + " ";
  const auto add = [&](std::span<const std::uint64_t> numbers) {
    for (std::size_t d = 0; d < numbers.size(); ++d) text += (d > 0 ? "x" : "") + std::to_string(numbers[d]);
  };
  add(std::span(map.spec.shape).first(map.spec.rank));
  if (map.spec.mode == MapMode::im2col) {
    text += ", " + std::to_string(map.spec.pixel_box.channels) + " channels of " +
            std::to_string(map.spec.pixel_box.pixels) + " pixels";
  } else {
    text += ", box ";
    const std::vector<std::uint64_t> box(map.spec.box.begin(), map.spec.box.begin() + map.spec.rank);
    add(box);
  }
  text += ", swizzle " + std::string(name(map.spec.swizzle)) + ">";
  return text;
}

}  // namespace

KernelArguments::KernelArguments(const nb::tuple& given, const PtxKernel& kernel) {
  if (given.size() != kernel.parameters.size()) {
    std::string message = kernel.name + " takes " + std::to_string(kernel.parameters.size()) +
                          " arguments; found " + std::to_string(given.size());
    for (const PtxParameter& parameter : kernel.parameters) message += "\n  " + parameter.declaration;
    throw Error(ErrorCode::invalid_argument, message);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const nb::handle value = given[i];
    const PtxParameter& parameter = kernel.parameters[i];
    Value& argument = values.emplace_back();
    if (nb::isinstance<PythonTensorMap>(value)) {
      const auto& map = nb::cast<const PythonTensorMap&>(value);
      if (parameter.bytes != 128) refuse(parameter, i, "no tensor map", value);
      argument.map = static_cast<std::ptrdiff_t>(maps.size());
      maps.push_back({operands.size(), map.spec});
      operands.push_back(read_operand(map.tensor, "a tensor map's tensor"));
    } else if (std::vector<std::byte> bytes; raw_bytes(value, bytes)) {
      if (bytes.size() != parameter.bytes) {
        const std::string takes = std::to_string(parameter.bytes) + " bytes";
        refuse(parameter, i, takes.c_str(), value);
      }
      argument.bytes = std::move(bytes);
    } else if (is_tensor(value)) {
      if (parameter.bytes != 8) refuse(parameter, i, "no array", value);
      argument.operand = static_cast<std::ptrdiff_t>(operands.size());
      operands.push_back(read_operand(value, "an argument"));
    } else {
      argument.bytes = number_bytes(parameter, i, value);
    }
  }
}

std::vector<Tensor> KernelArguments::tensors() const {
  std::vector<Tensor> tensors;
  for (const Operand& operand : operands) tensors.push_back(operand.tensor);
  return tensors;
}

void KernelArguments::launch(const LoadedKernel& kernel, Device& device, const LaunchShape& shape,
                             Stream stream) const {
  std::vector<EncodedTensorMap> encoded;
  for (const Map& map : maps)
    encoded.push_back(device.maps().encode(map.spec, operands[map.operand].tensor.address));
  std::vector<DevicePtr> addresses(values.size());
  std::vector<void*> parameters;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    if (value.map >= 0) {
      parameters.push_back(&encoded[static_cast<std::size_t>(value.map)]);
    } else if (value.operand >= 0) {
      addresses[i] = operands[static_cast<std::size_t>(value.operand)].tensor.address;
      parameters.push_back(&addresses[i]);
    } else {
      parameters.push_back(const_cast<std::byte*>(value.bytes.data()));  // NOLINT: a launch only reads it
    }
  }
  kernel.launch(shape, parameters, stream);
}

std::array<std::uint32_t, 3> to_extent(nb::handle value, const char* name) {
  std::array<std::uint32_t, 3> extent{1, 1, 1};
  std::size_t d = 0;
  const auto add = [&](nb::handle number) {
    const long long given = PyLong_Check(number.ptr()) ? PyLong_AsLongLong(number.ptr()) : -1;
    if (given < 1 || given > 0xffffffffLL || d >= extent.size()) {
      PyErr_Clear();
      throw Error(ErrorCode::invalid_argument, std::string(name) + " takes 1 to 3 numbers above 0; found " +
                                                   nb::cast<std::string>(nb::repr(value)));
    }
    extent[d++] = static_cast<std::uint32_t>(given);
  };
  if (PyLong_Check(value.ptr())) {
    add(value);
  } else {
    for (const nb::handle number : nb::borrow<nb::object>(value)) add(number);
  }
  return extent;
}

void bind_tensor_map(nb::module_& module) {
  nb::class_<PythonTensorMap>(
      module, "TensorMap",
      "A tensor map of an array, which is passed to a kernel as an argument. It gives the box, the part of "
      "the array that one bulk tensor copy moves. TensorMap.im2col() makes a map that copies pixels of "
      "images. With interleave=\"16B\" or \"32B\" the last dimension of x is a slice of channels.")
      .def(
          "__init__",
          [](PythonTensorMap* self, nb::object x, nb::handle box, std::string_view swizzle,
             std::string_view l2, std::string_view oob, nb::handle element_strides,
             std::string_view interleave) {
            new (self) PythonTensorMap(
                make_tiled(std::move(x), box, {swizzle, l2, oob, element_strides, interleave}));
          },
          nb::arg("x"), nb::arg("box"), nb::arg("swizzle") = "none", nb::arg("l2") = "none",
          nb::arg("oob") = "zero", nb::arg("element_strides").none() = nb::none(),
          nb::arg("interleave") = "none")
      .def_static(
          "im2col",
          [](nb::object x, std::uint32_t channels, std::uint32_t pixels, nb::handle lower, nb::handle upper,
             std::string_view swizzle, std::string_view l2, std::string_view oob, nb::handle element_strides,
             std::string_view interleave) {
            return make_im2col(std::move(x), channels, pixels, lower, upper,
                               {swizzle, l2, oob, element_strides, interleave});
          },
          nb::arg("x"), nb::arg("channels"), nb::arg("pixels"), nb::arg("lower").none() = nb::none(),
          nb::arg("upper").none() = nb::none(), nb::kw_only(), nb::arg("swizzle") = "none",
          nb::arg("l2") = "none", nb::arg("oob") = "zero", nb::arg("element_strides").none() = nb::none(),
          nb::arg("interleave") = "none",
          "Makes a map of images. One copy moves `channels` channels of `pixels` pixels (PTX ISA, \"Im2col "
          "mode\"). x has the shape (images, height, width, channels), or one or three dimensions of pixels "
          "in place of height and width. lower and upper are the corners of the box over which a filter "
          "moves, by default the whole image. With interleave the shape is (images, slices, height, width, "
          "channels of a slice).")
      .def_prop_ro("tensor", [](const PythonTensorMap& self) { return self.tensor; })
      .def("__repr__", &shown);
}

}  // namespace tmajit::python
