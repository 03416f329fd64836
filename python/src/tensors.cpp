#include "tensors.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <utility>

namespace tmajit::python {
namespace {

using namespace dlpack;

constexpr std::array data_types{
    DataType{"uint8", {unsigned_integer, 8, 1}, ElementType::u8},
    DataType{"int8", {signed_integer, 8, 1}, ElementType::i8},
    DataType{"uint16", {unsigned_integer, 16, 1}, ElementType::u16},
    DataType{"int16", {signed_integer, 16, 1}, ElementType::i16},
    DataType{"uint32", {unsigned_integer, 32, 1}, ElementType::u32},
    DataType{"int32", {signed_integer, 32, 1}, ElementType::i32},
    DataType{"uint64", {unsigned_integer, 64, 1}, ElementType::u64},
    DataType{"int64", {signed_integer, 64, 1}, ElementType::i64},
    DataType{"float16", {floating, 16, 1}, ElementType::f16},
    DataType{"bfloat16", {brain_floating, 16, 1}, ElementType::bf16},
    DataType{"float32", {floating, 32, 1}, ElementType::f32},
    DataType{"float64", {floating, 64, 1}, ElementType::f64},
    DataType{"float8_e4m3fn", {e4m3fn, 8, 1}, ElementType::e4m3},
    DataType{"float8_e5m2", {e5m2, 8, 1}, ElementType::e5m2},
    DataType{"bool", {boolean, 8, 1}, ElementType::u8},
    DataType{"complex64", {complex_number, 64, 1}, ElementType::u64, true},
    // Element types of tmajit for arrays that have the type float32 in their library.
    DataType{"tf32", {floating, 32, 1}, ElementType::tf32},
    DataType{"f32_ftz", {floating, 32, 1}, ElementType::f32_ftz},
    DataType{"tf32_ftz", {floating, 32, 1}, ElementType::tf32_ftz},
};

constexpr std::size_t max_type_code = 15;  // of the types above

/// [code][n] is the index into `data_types` of the first type with that DLPack code and 8 << n bits, or -1.
constexpr auto type_numbers = [] {
  std::array<std::array<std::int8_t, 4>, max_type_code + 1> numbers{};
  for (auto& row : numbers) row.fill(-1);
  for (std::size_t i = data_types.size(); i-- > 0;) {
    const DLDataType& type = data_types[i].dlpack;
    numbers[type.code][static_cast<std::size_t>(std::countr_zero(type.bits) - 3)] =
        static_cast<std::int8_t>(i);
  }
  return numbers;
}();

std::string known_types() {
  std::string names;
  for (const DataType& type : data_types) names += (names.empty() ? "" : ", ") + std::string(type.name);
  return names;
}

[[noreturn]] void refuse_type(const std::string& found) {
  throw Error(ErrorCode::unsupported, "elements of type " + found + "; legal are " + known_types());
}

[[noreturn]] void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  nb::raise_python_error();
}

/// A function of _libraries.py, which is imported at the first call. A static local in its place could
/// deadlock: a thread that initialises it may lose the GIL to a thread that then waits, with the GIL, for
/// that to end.
class LibraryFunction {
 public:
  constexpr explicit LibraryFunction(const char* name) : name_(name) {}

  nb::object operator()(nb::handle argument) {
    PyObject* found = function_.load(std::memory_order_acquire);
    if (found == nullptr) {
      nb::object imported = nb::module_::import_("tmajit._libraries").attr(name_);
      if (function_.compare_exchange_strong(found, imported.ptr())) found = imported.release().ptr();
    }
    return nb::handle(found)(argument);
  }

 private:
  const char* name_;
  std::atomic<PyObject*> function_ = nullptr;  // never released: the process may end while it runs
};

constinit LibraryFunction library_functions("library_of");
constinit LibraryFunction type_name("type_name");

/// The library of a tensor type, from a table that all threads share.
const Library& find_library(PyTypeObject* type) {
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::vector<std::pair<PyTypeObject*, const Library*>>;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [known_type, library] : known)
      if (known_type == type) return *library;
  }
  const nb::handle handle(reinterpret_cast<PyObject*>(type));
  auto made = std::make_unique<Library>();
  made->type = nb::borrow(handle);
  made->functions = library_functions(handle);
  made->waits = nb::cast<bool>(made->functions.attr("waits"));
  made->reads = !made->functions.attr("read").is_none();
  if (nb::hasattr(handle, "__dlpack_c_exchange_api__")) {
    const nb::object capsule = handle.attr("__dlpack_c_exchange_api__");
    auto* const api =
        static_cast<const DLPackExchangeAPI*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (api == nullptr) nb::raise_python_error();
    // Other major versions have other structs.
    if (api->version.major == 1 && api->managed_tensor_from_py_object_no_sync != nullptr)
      made->exchange = api;
  }
  const std::lock_guard lock(mutex);
  for (const auto& [known_type, library] : known)
    if (known_type == type) return *library;
  known.emplace_back(type, made.get());
  return *made.release();
}

const Library& library_of(nb::handle object) {
  // Most threads call with tensors of one type, so each thread remembers the last one.
  thread_local std::pair<PyTypeObject*, const Library*> last{};
  PyTypeObject* const type = Py_TYPE(object.ptr());
  if (last.first != type) last = {type, &find_library(type)};
  // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): no object has the type null
  return *last.second;
}

void set_view(Operand& operand, const DataType& type, std::span<const std::int64_t> shape,
              const std::int64_t* strides, const char* name) {
  if (shape.size() > max_view_rank) {
    throw Error(ErrorCode::unsupported, std::string(name) + " has " + std::to_string(shape.size()) +
                                            " dimensions; tmajit takes at most " +
                                            std::to_string(max_view_rank));
  }
  operand.type = &type;
  TensorView& view = operand.tensor.view;
  view.type = type.element;
  view.rank = static_cast<std::uint32_t>(shape.size());
  std::int64_t dense = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    view.shape[d] = static_cast<std::uint64_t>(shape[d]);
    view.strides[d] = strides != nullptr ? strides[d] : dense;
    dense *= std::max<std::int64_t>(shape[d], 1);
  }
}

/// Sets the address of a tensor whose view is set. Array libraries give null to a tensor without elements,
/// which tmajit would take for a tensor whose address is unknown.
void set_address(Operand& operand, std::uint64_t address) {
  constexpr std::uint64_t aligned = 256;
  operand.tensor.address = address == 0 && operand.tensor.view.elements() == 0 ? aligned : address;
}

void set_tensor(Operand& operand, const DLTensor& tensor, const char* name) {
  set_view(operand, data_type(tensor.dtype), {tensor.shape, static_cast<std::size_t>(tensor.ndim)},
           tensor.strides, name);
  set_address(operand, reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset);
  operand.device = tensor.device;
}

/// A Python object that frees a tensor, which was taken out of its capsule, at its own end.
template <class Managed>
nb::object owner_of(Managed* managed) {
  return nb::steal(PyCapsule_New(managed, nullptr, [](PyObject* capsule) {
    auto* const owned = static_cast<Managed*>(PyCapsule_GetPointer(capsule, nullptr));
    if (owned->deleter != nullptr) owned->deleter(owned);
  }));
}

void read_capsule(Operand& operand, nb::handle object, const char* name) {
  nb::object capsule;
  if (!nb::hasattr(object, "__dlpack__")) {
    raise(PyExc_TypeError, std::string(name) +
                               " is no tensor: " + nb::cast<std::string>(nb::repr(object.type())) +
                               " has neither __dlpack_c_exchange_api__ nor __dlpack__");
  }
  try {
    capsule = object.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 3));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    capsule = object.attr("__dlpack__")();
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    auto* const managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major != 1) {
      throw Error(ErrorCode::unsupported, std::string(name) + " speaks DLPack " +
                                              std::to_string(managed->version.major) + "; tmajit speaks 1");
    }
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    operand.owner = owner_of(managed);
    operand.read_only = (managed->flags & read_only_flag) != 0;
    set_tensor(operand, managed->dl_tensor, name);
  } else {
    auto* const managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    if (managed == nullptr) nb::raise_python_error();
    PyCapsule_SetName(capsule.ptr(), "used_dltensor");
    operand.owner = owner_of(managed);
    set_tensor(operand, managed->dl_tensor, name);
  }
}

void read_by_library(Operand& operand, nb::handle object, const char* name) {
  const nb::tuple found(operand.library->functions.attr("read")(object));
  const nb::handle type = found[0];
  const nb::handle shape = found[1];
  const nb::handle strides = found[2];
  std::vector<std::int64_t> extents;
  for (const nb::handle extent : nb::borrow<nb::object>(shape))
    extents.push_back(nb::cast<std::int64_t>(extent));
  std::vector<std::int64_t> steps;
  if (!strides.is_none())
    for (const nb::handle step : nb::borrow<nb::object>(strides))
      steps.push_back(nb::cast<std::int64_t>(step));
  set_view(operand, data_type(type), extents, strides.is_none() ? nullptr : steps.data(), name);
  set_address(operand, nb::cast<std::uint64_t>(found[3]));
  operand.device = {nb::cast<int>(found[4]), nb::cast<int>(found[5])};
  operand.read_only = nb::cast<bool>(found[6]);
  operand.owner = nb::borrow(found[7]);
}

}  // namespace

const DataType& data_type(DLDataType type) {
  const bool may_exist = type.code <= max_type_code && type.lanes == 1 && std::has_single_bit(type.bits) &&
                         type.bits >= 8 && type.bits <= 64;
  const int number =
      may_exist ? type_numbers[type.code][static_cast<std::size_t>(std::countr_zero(type.bits) - 3)] : -1;
  if (number >= 0) return data_types[static_cast<std::size_t>(number)];
  refuse_type("DLPack code " + std::to_string(type.code) + ", " + std::to_string(type.bits) + " bits, " +
              std::to_string(type.lanes) + " lanes");
}

const DataType& data_type(ElementType type) {
  return *std::ranges::find(data_types, type, &DataType::element);
}

const DataType& data_type(nb::handle type) {
  std::string name;
  if (PyUnicode_Check(type.ptr())) {
    name = nb::cast<std::string>(type);
  } else {
    name = nb::cast<std::string>(type_name(type));
  }
  for (const DataType& known : data_types)
    if (known.name == name || tmajit::name(known.element) == name) return known;
  refuse_type(name);
}

void read_operand(Operand& operand, nb::handle object, const char* name) {
  operand.library = &library_of(object);
  if (const DLPackExchangeAPI* const api = operand.library->exchange; api != nullptr) {
    if (api->dltensor_from_py_object_no_sync != nullptr) {
      DLTensor tensor;
      if (api->dltensor_from_py_object_no_sync(object.ptr(), &tensor) != 0) nb::raise_python_error();
      set_tensor(operand, tensor, name);
    } else {
      DLManagedTensorVersioned* managed = nullptr;
      if (api->managed_tensor_from_py_object_no_sync(object.ptr(), &managed) != 0) nb::raise_python_error();
      operand.owner = owner_of(managed);
      operand.read_only = (managed->flags & read_only_flag) != 0;
      set_tensor(operand, managed->dl_tensor, name);
    }
  } else if (operand.library->reads) {
    read_by_library(operand, object, name);
  } else {
    read_capsule(operand, object, name);
  }
  const std::int32_t device = operand.device.device_type;
  if (device != cpu && device != cuda && device != cuda_host && device != cuda_managed) {
    throw Error(ErrorCode::unsupported, std::string(name) + " is on a device of DLPack's type " +
                                            std::to_string(device) +
                                            "; legal are the CPU (1, 3) and CUDA (2, 13)");
  }
}

Operand dense_operand(const DataType& type, std::span<const std::int64_t> shape, std::uint64_t address,
                      const char* name) {
  Operand operand;
  set_view(operand, type, shape, nullptr, name);
  set_address(operand, address);
  return operand;
}

nb::object allocate(const Operand& like, const DataType& type, std::span<const std::uint64_t> shape,
                    Operand& result) {
  result.library = like.library;
  std::array<std::int64_t, max_view_rank> extents{};
  std::ranges::copy(shape, extents.begin());
  const DLPackExchangeAPI* const api = like.library->exchange;
  if (api == nullptr || api->managed_tensor_allocator == nullptr ||
      api->managed_tensor_to_py_object_no_sync == nullptr) {
    nb::list list;
    for (const std::uint64_t extent : shape) list.append(extent);
    nb::object made = like.library->functions.attr("empty")(nb::tuple(list), std::string(type.name),
                                                            like.device.device_type, like.device.device_id);
    result = read_operand(made, "the result");
    return made;
  }
  DLTensor prototype{.data = nullptr,
                     .device = like.device,
                     .ndim = static_cast<std::int32_t>(shape.size()),
                     .dtype = type.dlpack,
                     .shape = extents.data(),
                     .strides = nullptr,
                     .byte_offset = 0};
  DLManagedTensorVersioned* managed = nullptr;
  std::string failure;
  const auto set_error = [](void* context, const char* kind, const char* message) {
    *static_cast<std::string*>(context) = std::string(kind) + ": " + message;
  };
  if (api->managed_tensor_allocator(&prototype, &managed, &failure, set_error) != 0) {
    if (PyErr_Occurred() != nullptr) nb::raise_python_error();
    throw Error(ErrorCode::out_of_memory, "the tensors' library made no result: " + failure);
  }
  set_tensor(result, managed->dl_tensor, "the result");
  result.type = &type;
  result.tensor.view.type = type.element;
  void* object = nullptr;
  if (api->managed_tensor_to_py_object_no_sync(managed, &object) != 0) nb::raise_python_error();
  return nb::steal(static_cast<PyObject*>(object));
}

Stream current_stream(const Operand& operand) {
  if (!operand.on_gpu()) return nullptr;
  const DLPackExchangeAPI* const api = operand.library->exchange;
  void* stream = nullptr;
  if (api != nullptr && api->current_work_stream != nullptr) {
    if (api->current_work_stream(operand.device.device_type, operand.device.device_id, &stream) != 0)
      nb::raise_python_error();
  } else {
    const auto number =
        nb::cast<std::uintptr_t>(operand.library->functions.attr("stream")(operand.device.device_id));
    stream = reinterpret_cast<void*>(number);  // NOLINT: libraries return it as a number
  }
  return static_cast<Stream>(stream);
}

std::span<std::byte> host_bytes(const Tensor& tensor) {
  const TensorView& view = tensor.view;
  if (view.is_number) return {};
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] == 0) return {};
    const std::int64_t reach = view.strides[d] * static_cast<std::int64_t>(view.shape[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  const std::int64_t size = size_of(view.type);
  auto* const first = reinterpret_cast<std::byte*>(tensor.address) + low * size;  // NOLINT: host memory
  return {first, static_cast<std::size_t>((high - low + 1) * size)};
}

}  // namespace tmajit::python
