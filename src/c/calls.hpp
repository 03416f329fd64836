#pragma once

#include "c/handles.hpp"

#include <cstddef>
#include <span>
#include <string_view>

TMAJIT_BEGIN
namespace c {

/// A member of an operation's struct of arguments. Its C type follows from the argument's type.
struct ArgumentMember {
  std::string_view name;
  std::size_t offset = 0;
};

/// An operation and its struct of arguments, as write_operations.cpp writes them.
struct OperationStruct {
  std::string_view operation;
  std::string_view type;
  std::size_t bytes = 0;
  std::span<const ArgumentMember> members;
};

/// A caller's array of tensors.
struct TensorArray {
  const tmajit_tensor* first = nullptr;
  std::size_t count = 0;
};

/// Runs an operation: the body of tmajit_<operation>().
[[nodiscard]] tmajit_status run(const OperationStruct& operation, tmajit_runtime* runtime,
                                TensorArray destinations, TensorArray sources, const void* arguments,
                                void* stream, tmajit_error** error);
/// Plans an operation: the body of tmajit_<operation>_plan().
[[nodiscard]] tmajit_status make_plan(const OperationStruct& operation, tmajit_runtime* runtime,
                                      TensorArray destinations, TensorArray sources, const void* arguments,
                                      const char* family, tmajit_plan** plan, tmajit_error** error);
/// Makes an operation as a value: the body of tmajit_<operation>_operation().
[[nodiscard]] tmajit_status make_value(const OperationStruct& operation, TensorArray destinations,
                                       TensorArray sources, const void* arguments, tmajit_operation** value,
                                       tmajit_error** error);
/// Fills the shape and type of an operation's one destination: the body of tmajit_<operation>_results().
[[nodiscard]] tmajit_status results(const OperationStruct& operation, TensorArray sources,
                                    const void* arguments, tmajit_tensor* destination, tmajit_error** error);
/// results() for an operation with several destinations. `*count` is the capacity of `destinations` before
/// the call, and the number of destinations after it.
[[nodiscard]] tmajit_status results(const OperationStruct& operation, TensorArray sources,
                                    const void* arguments, tmajit_tensor* destinations, std::size_t* count,
                                    tmajit_error** error);

}  // namespace c
TMAJIT_END
