#include "errors.hpp"

#include <tmajit/error.hpp>

#include <exception>
#include <string>

namespace tmajit::python {
namespace {

namespace nb = nanobind;

nb::object text(const std::string& bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

void raise(const char* type, const nb::tuple& arguments) {
  const nb::object exception = nb::module_::import_("tmajit._errors").attr(type);
  const nb::object made = exception(*arguments);
  PyErr_SetObject(exception.ptr(), made.ptr());
}

nb::object violation(const Violation& broken) {
  return nb::module_::import_("tmajit._errors")
      .attr("Violation")(text(broken.rule), text(broken.subject), text(broken.found), text(broken.need),
                         text(broken.legal), text(broken.source));
}

void translate(const std::exception_ptr& pointer, void* /*payload*/) {
  try {
    std::rethrow_exception(pointer);
  } catch (const SpecError& error) {
    nb::list violations;
    for (const Violation& broken : error.violations()) violations.append(violation(broken));
    raise("SpecError", nb::make_tuple(text(error.what()), std::string(name(error.code())), violations));
  } catch (const CompileError& error) {
    raise("CompileError",
          nb::make_tuple(text(error.what()), std::string(name(error.code())), text(error.log())));
  } catch (const Error& error) {
    const char* const type = error.code() == ErrorCode::invalid_argument ? "ArgumentError" : "Error";
    raise(type, nb::make_tuple(text(error.what()), std::string(name(error.code()))));
  }
}

}  // namespace

void register_errors() {
  nb::register_exception_translator(translate);
}

}  // namespace tmajit::python
