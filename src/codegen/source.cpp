#include "codegen/directives.hpp"
#include "codegen/include_expander.hpp"
#include "codegen/limits_text.hpp"
#include "codegen/templates.hpp"
#include "kernel/plan_state.hpp"
#include "spec/inside.hpp"

#include <tmajit/codegen.hpp>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::string_view begin_mark = "@begin@";  // replaced by a number when all lines are known

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// Formats a text as comment lines, broken at blanks.
std::string commented(std::string_view text) {
  constexpr std::size_t widest = 116;
  std::string out;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > widest) {
      end = text.rfind(' ', widest);
      if (end == std::string_view::npos) end = widest;
    }
    out += fmt::format("// {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string facts_section(std::string_view facts) {
  return fmt::format(
      "\n// ---- what this kernel is specialised for ----\nnamespace tmajit {{\n\n{}\n}}  // namespace "
      "tmajit\n",
      facts);
}

/// The parameters of the numbers of the launch if an expression reads one of them: "const float p0".
std::vector<std::string> numbers_read(const SourceParts& parts, std::string_view expression) {
  const std::span<const ElementType> types = std::span(parts.inputs).last(parts.numbers);
  std::vector<std::string> parameters;
  bool reads_any = false;
  for (std::size_t k = 0; k < types.size(); ++k) {
    const std::string name = fmt::format("p{}", k);
    reads_any = reads_any || reads(expression, name);
    parameters.push_back(fmt::format("const {} {}", value_type(types[k]), name));
  }
  if (!reads_any) parameters.clear();
  return parameters;
}

/// Returns the flags that select the templates' lines for this kernel.
Flags flags_of(const SourceParts& parts, std::string_view expression, std::string_view epilogue) {
  const bool computes = !expression.empty();
  Flags flags;
  for (const TemplateFlag& flag : parts.flags) flags.set(flag.name, flag.is_set);
  flags.set_dimensions(parts.rank);
  if (parts.map_rank > 0) flags.set(fmt::format("rank{}", parts.map_rank));
  if (parts.element_bytes > 0) flags.set_size(parts.element_bytes);
  for (const ElementType type : parts.elements) flags.set_element(type);
  for (const ElementType type : all_element_types) {
    const std::string conversion = fmt::format("as_{}", name(type));
    if (reads(expression, conversion) || reads(epilogue, conversion)) flags.set_element(type);
  }
  flags.set("fast_exp", reads(expression, "fast_exp") || reads(epilogue, "fast_exp"));
  const std::string_view result = value_type(parts.result);
  const bool converts = computes || parts.pads;
  flags.set("integer_result", converts && result != "float" && result != "double");
  flags.set("reads_g", parts.reads.g);
  flags.set("epilogue_numbers", !numbers_read(parts, epilogue).empty());
  return flags;
}

/// Definitions of the constants of the C and C++ libraries that an expression reads: NVRTC has none.
std::string constants_of(std::string_view expression) {
  std::string out;
  for (const LimitMacro& macro : limit_macros()) {
    if (reads(expression, macro.name)) out += definition(macro);
  }
  if (!out.empty()) out += '\n';
  // Expressions are in namespace tmajit, where lookup finds this `std` first. nvcc's own std::numeric_limits
  // has host functions only.
  if (reads(expression, "numeric_limits")) {
    out += fmt::format("\nnamespace tmajit::std {{\n\n{}\n}}  // namespace tmajit::std\n",
                       numeric_limits_text());
  }
  return out;
}

/// The user's expression as a function of one element: evaluate(g, t, tile_index, x0, x1 …). It has only
/// those of the first three parameters that `parts.reads` names. A single tensor is called x; numbers of the
/// launch are called p0, p1 …. finished()
/// replaces the line `//@ expression`.
std::string evaluate_function(const SourceParts& parts, std::string_view expression) {
  std::vector<std::string> arguments;
  if (parts.reads.g) arguments.push_back(fmt::format("const Coordinate (&g)[{}]", parts.coordinates));
  if (parts.reads.t) arguments.push_back(fmt::format("const u32 (&t)[{}]", parts.coordinates));
  if (parts.reads.tile_index) arguments.emplace_back("u32 tile_index");
  const std::size_t tensors = parts.inputs.size() - parts.numbers;
  const bool has_one_input = tensors == 1;
  for (std::size_t i = 0; i < parts.inputs.size(); ++i) {
    const std::string name = i >= tensors    ? fmt::format("p{}", i - tensors)
                             : has_one_input ? "x"
                                             : fmt::format("x{}", i);
    arguments.push_back(fmt::format(
        "const {} {}", parts.neighbours && i < tensors ? "auto" : value_type(parts.inputs[i]), name));
  }
  std::string out = "\n// ---- the user's expression ----\nnamespace tmajit {\n\n";
  out += fmt::format("__device__ __forceinline__ auto evaluate({}) {{\n", fmt::join(arguments, ", "));
  out += parts.before_expression;
  if (has_one_input && reads(expression, "x0")) out += "  const auto x0 = x;\n";
  out += "  return (\n//@ expression\n  );\n}\n\n";
  if (parts.has_place) {
    out += fmt::format(
        "template <class Place, class... X>\n__device__ __forceinline__ auto evaluate_at(const Place& place, "
        "X... x) {{ return evaluate({}{}{}x...); }}\n\n",
        parts.reads.g ? "place.g, " : "", parts.reads.t ? "place.t, " : "",
        parts.reads.tile_index ? "place.tile_index, " : "");
  }
  return out + "}  // namespace tmajit\n";
}

/// Returns a device function that computes the final result from a reduction's result `x`, its number of
/// elements `n`, and all numbers of the launch if the epilogue reads one.
std::string final_result_function(const SourceParts& parts, std::string_view epilogue) {
  std::vector<std::string> parameters{"const X x", "const X n"};
  std::ranges::move(numbers_read(parts, epilogue), std::back_inserter(parameters));
  return fmt::format(
      "\n// ---- the user's expression of the result ----\nnamespace tmajit {{\n\n"
      "template <class X>\n__device__ __forceinline__ auto final_result({}) {{\n{}}}\n\n}} "
      " // "
      "namespace tmajit\n",
      fmt::join(parameters, ", "), epilogue.empty() ? "  return x;\n" : "  return (\n//@ epilogue\n  );\n");
}

/// The kernel's entry point: its parameters, and the call of the template's function.
std::string entry_point(const KernelPlanState& state, const SourceParts& parts, std::string_view entry) {
  std::string bounds =
      fmt::format("{}", parts.max_threads > 0 ? parts.max_threads : state.launch_shape.block[0]);
  if (parts.min_ctas > 0) bounds += fmt::format(", {}", parts.min_ctas);
  std::string out = fmt::format(
      "\n// ---- the kernel ----\nextern \"C\" __global__ void __launch_bounds__({})\n{}(", bounds, entry);
  const std::string indent = fmt::format(",\n{:{}}", "", entry.size() + 1);
  std::string_view separator;
  for (const ParameterBlock::Entry& parameter : state.parameters.entries()) {
    const bool by_reference = parameter.type.name.starts_with("params::");
    out += fmt::format("{}{}{} {}", separator, by_reference ? "const __grid_constant__ " : "",
                       parameter.type.text("tmajit::"), parameter.name);
    separator = indent;
  }
  return out + fmt::format(") {{\n  tmajit::{};\n}}\n", parts.call);
}

}  // namespace

Source source(const KernelPlan& plan) {
  const KernelPlanState& state = *Inside::state(plan);
  const Family& family = *state.candidate.family;
  const std::string_view expression = plan.expression();
  const SourceParts parts = family.source(state.candidate, expression);

  Source source;
  source.entry = fmt::format("tmajit_{}", family.name());
  source.steps = parts.expressions;
  if (parts.steps.empty()) source.expression = expression;
  source.epilogue = plan.epilogue();
  IncludeExpander expander(flags_of(parts, expression, plan.epilogue()));
  const std::string body =
      expander.kernel(fmt::format("{}.cu", parts.kernel.empty() ? family.name() : parts.kernel));

  // Headers first, then the facts, then the code that uses the facts.
  std::string text = commented(fmt::format("{}: {}.", source.entry, family.info().summary));
  // This text must follow from the kernel's key: kernels for tiles of any size share one source.
  text += parts.max_threads > 0
              ? commented(fmt::format("This one: tiles of any size, up to {} threads.", parts.max_threads))
              : commented(fmt::format("This one: {}.", family.describe(family.choice(state.candidate))));
  text += commented(parts.why);
  text += fmt::format(
      "//\n// Begin reading at line {}, the kernel itself; the code that it uses comes before it.\n",
      begin_mark);
  text += "// Made by tmajit " TMAJIT_VERSION_STRING "; compiles as it is with nvcc -arch=sm_90a.\n";
  text += expander.headers();
  text += facts_section(parts.facts);
  text += constants_of(fmt::format("{} {}", expression, plan.epilogue()));
  if (!parts.steps.empty()) {
    text += parts.steps;
  } else if (!expression.empty()) {
    text += evaluate_function(parts, expression);
  }
  if (family.info().does(ReduceProblem::operation)) text += final_result_function(parts, plan.epilogue());
  text += expander.kernel_headers();
  const std::string section = fmt::format("// ---- the {} family ----\n", family.name());
  text += "\n" + section + body;
  text += entry_point(state, parts, source.entry);

  source.text = finished(text, expression, source.entry + ".cu", plan.epilogue());
  const std::size_t begin = lines(std::string_view(source.text).substr(0, source.text.find(section))) + 1;
  source.text.replace(source.text.find(begin_mark), begin_mark.size(), fmt::format("{}", begin));
  return source;
}

Source custom_source(std::string_view text, std::string_view entry, std::string_view label) {
  IncludeExpander expander;
  const std::string own = expander.strip(text);
  return {expander.headers() + fmt::format("\n#line 1 \"{}\"\n", label) + own, std::string(entry), {}};
}

std::vector<std::pair<std::string, std::string>> device_headers() {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const EmbeddedFile& file : embedded_templates()) {
    if (file.path.starts_with("kernels/")) continue;
    const std::string_view name = file.path.substr(file.path.find('/') + 1);
    headers.emplace_back(fmt::format("tmajit/{}", name),
                         selected(template_text(file.path), file.path, Flags::everything()));
  }
  return headers;
}

TMAJIT_END
