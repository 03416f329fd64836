// Generates a part of the C interface from the operations' descriptions:
//
//   tmajit_write_c_operations [--check] REPOSITORY
//
// writes operations.h and recipes.h in include/tmajit/c, and operation_structs.hpp, operations.cpp,
// operation_plans.cpp, operation_values.cpp, and the same three of recipes in src/c. With --check it writes
// nothing, and fails if a file differs from what it would write.
#include <tmajit/operations.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

using namespace tmajit;

namespace {

constexpr std::size_t width = 110;

/// Breaks words into lines of at most `width` columns, each of which begins with `indent`.
std::string wrapped(std::string_view words, std::string_view indent) {
  std::string lines;
  std::string line;
  const auto columns = [](std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
  };
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (!line.empty() && columns(line) + 1 + columns(word) > width) {
      lines += line + "\n";
      line.clear();
    }
    line += line.empty() ? std::string(indent) : " ";
    line += word;
  }
  return lines + line + "\n";
}

/// The declaration or the call of a function. Lines of parameters are aligned with the first parameter.
std::string declaration(const std::string& before, const std::vector<std::string>& parameters) {
  std::string lines;
  std::string line = before + "(";
  const std::string indent(before.size() + 1, ' ');
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string part = parameters[i] + (i + 1 < parameters.size() ? "," : ")");
    if (line.size() > indent.size() && line.size() + 1 + part.size() + 2 > width) {
      lines += line + "\n";
      line = indent;
    }
    line += (line.size() > indent.size() ? " " : "") + part;
  }
  return lines + line;
}

std::string sentence(std::string_view words) {
  std::string text(words);
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

/// The C type of an argument's member.
std::string_view type_of(const Argument& argument) {
  switch (argument.type) {
    case ArgumentType::number: return "tmajit_number ";
    case ArgumentType::count:
    case ArgumentType::axis: return "tmajit_integer ";
    case ArgumentType::text:
    case ArgumentType::choice: return "const char* ";
    case ArgumentType::axes:
    case ArgumentType::extents:
    case ArgumentType::numbers: return "tmajit_dims ";
    case ArgumentType::parts: return "tmajit_integers ";
    case ArgumentType::slices: return "tmajit_ranges ";
    case ArgumentType::widths: return "tmajit_widths ";
  }
  return "";
}

bool has_one_source(const OperationInfo& operation) {
  return operation.min_sources == 1 && operation.max_sources == 1;
}

/// A sentence that says which sources an operation takes; empty for one source. Optional ones are in
/// brackets.
std::string sources_text(const OperationInfo& operation) {
  if (has_one_source(operation)) return {};
  if (!operation.sources.empty()) {
    std::vector<std::string> names;
    for (const OperandInfo& one : operation.sources)
      names.push_back(one.required ? std::string(one.name) : fmt::format("[{}]", one.name));
    return fmt::format(" Its sources are {}.", fmt::join(names, ", "));
  }
  if (operation.max_sources == std::numeric_limits<std::uint32_t>::max())
    return operation.is_batch ? " It takes as many sources as destinations."
                              : " It takes any number of sources.";
  if (operation.min_sources == operation.max_sources)
    return fmt::format(" It takes {} sources.", operation.max_sources);
  return fmt::format(" It takes {} to {} sources.", operation.min_sources, operation.max_sources);
}

/// Operations with steps of their own are recipes, which have files of their own.
bool is_recipe(const OperationInfo& operation) {
  return !operation.sources.empty();
}

struct Function {
  std::string name;
  std::vector<std::string> parameters;
  std::string callee;                  ///< function of calls.hpp that the generated function calls
  std::vector<std::string> arguments;  ///< arguments of that call
};

std::vector<Function> functions_of(const OperationInfo& operation) {
  const std::string name = "tmajit_" + std::string(operation.name);
  const std::string description = std::string(operation.name) + "_operation";
  const bool has_many_destinations = operation.has_many_destinations();
  const bool one_source = has_one_source(operation);
  std::vector<std::string> destination_parameters{"const tmajit_tensor* destination"};
  if (has_many_destinations)
    destination_parameters = {"const tmajit_tensor* destinations", "size_t destination_count"};
  std::vector<std::string> source_parameters{"const tmajit_tensor* source"};
  if (!one_source) source_parameters = {"const tmajit_tensor* sources", "size_t source_count"};
  const std::string destinations_argument =
      has_many_destinations ? "{destinations, destination_count}" : "{destination, 1}";
  const std::string sources_argument = one_source ? "{source, 1}" : "{sources, source_count}";
  const std::string arguments = "const " + name + "_arguments* arguments";

  const auto joined = [](std::initializer_list<std::vector<std::string>> lists) {
    std::vector<std::string> all;
    for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
  };
  std::vector<std::string> results_parameters{"tmajit_tensor* destination"};
  std::vector<std::string> results_arguments{"destination"};
  if (has_many_destinations)
    results_parameters = {"tmajit_tensor* destinations", "size_t* destination_count"};
  if (has_many_destinations) results_arguments = {"destinations", "destination_count"};
  return {
      {name,
       joined({{"tmajit_runtime* runtime"},
               destination_parameters,
               source_parameters,
               {arguments, "void* stream", "tmajit_error** error"}}),
       "run",
       {description, "runtime", destinations_argument, sources_argument, "arguments", "stream", "error"}},
      {name + "_plan",
       joined({{"tmajit_runtime* runtime"},
               destination_parameters,
               source_parameters,
               {arguments, "const char* family", "tmajit_plan** plan", "tmajit_error** error"}}),
       "make_plan",
       {description, "runtime", destinations_argument, sources_argument, "arguments", "family", "plan",
        "error"}},
      {name + "_operation",
       joined({destination_parameters,
               source_parameters,
               {arguments, "tmajit_operation** operation", "tmajit_error** error"}}),
       "make_value",
       {description, destinations_argument, sources_argument, "arguments", "operation", "error"}},
      {name + "_results",
       joined({source_parameters, {arguments}, results_parameters, {"tmajit_error** error"}}), "results",
       joined({{description, sources_argument, "arguments"}, results_arguments, {"error"}})},
  };
}

std::string member(const Argument& argument) {
  std::string words(argument.sentence);
  if (!argument.choices.empty()) {
    words += ": ";
    for (std::size_t i = 0; i < argument.choices.size(); ++i)
      words += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", argument.choices[i]);
  }
  words += argument.required ? "; required" : fmt::format("; default: {}", argument.fallback);
  if (argument.type == ArgumentType::text) words += fmt::format("; \"{}\"", argument.example);
  return wrapped(words, "  /// ") + fmt::format("  {}{};\n", type_of(argument), argument.name);
}

/// The structs and functions of all recipes, or of all other operations.
std::string declarations(bool recipes) {
  std::string text;
  for (const OperationInfo& operation : operations()) {
    if (is_recipe(operation) != recipes) continue;
    const std::string name = "tmajit_" + std::string(operation.name);
    text += "\n" + wrapped(sentence(operation.summary) + sources_text(operation), "/// ");
    text +=
        fmt::format("typedef struct {0}_arguments {{\n  size_t size;  ///< sizeof({0}_arguments)\n", name);
    for (const Argument& argument : operation.arguments) text += member(argument);
    text += fmt::format("}} {}_arguments;\n", name);
    for (const Function& function : functions_of(operation)) {
      text += declaration("TMAJIT_C_API tmajit_status " + function.name, function.parameters) + ";\n";
    }
  }
  return text + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

std::string recipes_header_text() {
  return R"(#ifndef TMAJIT_C_RECIPES_H
#define TMAJIT_C_RECIPES_H

// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off

/// Recipes: operations on rows with names of their own, such as softmax and norms (docs/rowwise.md). Their
/// functions are those of every operation (<tmajit/c/operations.h>).
#include <tmajit/c/chain.h>
#include <tmajit/c/plan.h>
#include <tmajit/c/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif
)" + declarations(true);
}

std::string header_text() {
  return R"(#ifndef TMAJIT_C_OPERATIONS_H
#define TMAJIT_C_OPERATIONS_H

// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off

/// Every operation (docs/operations.md); those that are recipes are in <tmajit/c/recipes.h>. Each has four
/// functions:
///
/// tmajit_<operation>() enqueues the operation on `stream`. The first call compiles a kernel. Later calls of
/// the same thread for tensors of equal shapes, types and strides use the cached kernel.
///
/// tmajit_<operation>_plan() makes a plan, which the caller destroys. `family` restricts the choice of
/// kernels to one family (docs/architecture.md); null allows every family.
///
/// tmajit_<operation>_operation() makes the operation as a value for a chain (<tmajit/c/chain.h>), which the
/// caller destroys. Mistakes that only the tensors' memory or an expression has are found by
/// tmajit_chain_plan().
///
/// tmajit_<operation>_results() computes the shapes and types of the destinations. It stores dense tensors at
/// address 0. The caller sets the `size` of each tensor before the call. If an operation can have several
/// destinations, `*destination_count` is the capacity of the array before the call, and the number of
/// destinations after it. If `destinations` is null, only that number is stored.
///
/// `arguments` may be null if no argument is required. The status is TMAJIT_INVALID_ARGUMENT for shapes,
/// arguments or numbers of tensors that do not match, TMAJIT_ILLEGAL_SPEC for tensors that overlap or break
/// another rule, and TMAJIT_COMPILE_FAILED for a wrong expression.
#include <tmajit/c/chain.h>
#include <tmajit/c/plan.h>
#include <tmajit/c/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif
)" + declarations(false);
}

std::string structs_text() {
  std::string text = R"(#pragma once

// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/calls.hpp"

#include <cstddef>

// The members of each operation's struct of arguments.
namespace tmajit::c {
)";
  for (const OperationInfo& operation : operations()) {
    const std::string type = fmt::format("tmajit_{}_arguments", operation.name);
    std::string members = "{}";
    if (!operation.arguments.empty()) {
      members = std::string(operation.name) + "_members";
      text += fmt::format("\ninline constexpr ArgumentMember {}[] = {{\n", members);
      for (const Argument& argument : operation.arguments)
        text += fmt::format("    {{\"{0}\", offsetof({1}, {0})}},\n", argument.name, type);
      text += "};";
    }
    text += fmt::format(
        "\ninline constexpr OperationStruct {0}_operation{{\n    \"{0}\", \"{1}\", sizeof({1}), {2}}};\n",
        operation.name, type, members);
  }
  return text + "\n}  // namespace tmajit::c\n";
}

/// The functions of all recipes, or of all other operations, that call one of these functions of calls.hpp.
std::string functions_text(bool recipes, std::initializer_list<std::string_view> callees) {
  std::string text = R"(// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/operation_structs.hpp"

using namespace tmajit::c;
)";
  for (const OperationInfo& operation : operations()) {
    if (is_recipe(operation) != recipes) continue;
    for (const Function& function : functions_of(operation)) {
      if (std::ranges::find(callees, function.callee) == callees.end()) continue;
      text += "\n" + declaration("tmajit_status " + function.name, function.parameters) + " {\n" +
              declaration("  return " + function.callee, function.arguments) + ";\n}\n";
    }
  }
  return text;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  const bool check = words.size() == 2 && words[0] == "--check";
  if (words.empty() || words.size() > 2 || (words.size() == 2 && !check)) {
    fmt::print(stderr, "usage: tmajit_write_c_operations [--check] REPOSITORY\n");
    return 2;
  }
  const std::string root(words.back());
  const std::pair<std::string, std::string> files[] = {
      {root + "/include/tmajit/c/operations.h", header_text()},
      {root + "/include/tmajit/c/recipes.h", recipes_header_text()},
      {root + "/src/c/operation_structs.hpp", structs_text()},
      {root + "/src/c/operations.cpp", functions_text(false, {"run"})},
      {root + "/src/c/operation_plans.cpp", functions_text(false, {"make_plan", "results"})},
      {root + "/src/c/operation_values.cpp", functions_text(false, {"make_value"})},
      {root + "/src/c/recipes.cpp", functions_text(true, {"run"})},
      {root + "/src/c/recipe_plans.cpp", functions_text(true, {"make_plan", "results"})},
      {root + "/src/c/recipe_values.cpp", functions_text(true, {"make_value"})}};
  bool failed = false;
  for (const auto& [path, text] : files) {
    if (content_of(path) == text) continue;
    if (check) {
      fmt::print("{} is out of date: run tmajit_write_c_operations {}\n", path, root);
    } else {
      std::ofstream file(path, std::ios::binary);
      file << text;
      if (file.flush()) continue;
      fmt::print(stderr, "{} cannot be written\n", path);
    }
    failed = true;
  }
  return failed ? 1 : 0;
}
