#include "check/kernel_name.hpp"
#include "launch/parameter_uses.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "report/json.hpp"
#include "spec/refuse.hpp"

#include <tmajit/launch/kernels.hpp>

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using Kind = ParameterUse::Kind;
using ptx::ScalarType;

/// The name of a type in launch files; for .bN the unsigned integer.
std::string type_name(ScalarType type) {
  std::string name(ptx::name(type));
  if (name[0] == 'b' && name != "bf16") name[0] = 'u';
  if (name[0] == 's') name[0] = 'i';
  return name;
}

/// The element type of a buffer for a C++ pointer type such as "int const*". Empty if launch files have no
/// name for it.
std::string pointed_type(std::string type) {
  if (!type.ends_with('*')) return {};
  type.pop_back();
  for (const std::string_view word : {" const", "const "}) {
    const auto at = type.find(word);
    if (at != std::string::npos) type.erase(at, word.size());
  }
  constexpr std::pair<std::string_view, std::string_view> names[] = {{"float", "f32"},
                                                                     {"double", "f64"},
                                                                     {"int", "i32"},
                                                                     {"unsigned int", "u32"},
                                                                     {"short", "i16"},
                                                                     {"unsigned short", "u16"},
                                                                     {"signed char", "i8"},
                                                                     {"unsigned char", "u8"},
                                                                     {"char", "i8"},
                                                                     {"long", "i64"},
                                                                     {"unsigned long", "u64"},
                                                                     {"long long", "i64"},
                                                                     {"unsigned long long", "u64"},
                                                                     {"__half", "f16"},
                                                                     {"__nv_bfloat16", "bf16"},
                                                                     {"__nv_fp8_e4m3", "e4m3"},
                                                                     {"__nv_fp8_e5m2", "e5m2"}};
  for (const auto& [cpp_type, name] : names) {
    if (type == cpp_type) return std::string(name);
  }
  return {};
}

/// "float*" and "int" of "ns::scale<3>(float*, int)".
std::vector<std::string> argument_types(std::string_view full_name) {
  std::vector<std::string> types;
  if (!full_name.ends_with(')')) return types;
  std::size_t open = full_name.size() - 1;  // will be the index of the matching opening parenthesis
  for (int depth = 1; depth > 0 && open > 0;) {
    const char c = full_name[--open];
    depth += c == ')' ? 1 : c == '(' ? -1 : 0;
  }
  int depth = 0;
  std::string type;
  for (const char c : full_name.substr(open + 1, full_name.size() - open - 2)) {
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      types.push_back(std::exchange(type, {}));
    } else if (c != ' ' || !type.empty()) {
      type += c;
    }
  }
  if (!type.empty()) types.push_back(type);
  return types;
}

/// Whether an instruction makes sense only in a cluster of several CTAs.
bool is_for_clusters(const ptx::FlatInstruction& flat) {
  const ptx::Instruction& in = *flat.instruction;
  const std::string_view word = in.words().front();
  const auto names_cluster = [](const ptx::Binding& binding) {
    const auto* const special = std::get_if<ptx::SpecialRef>(&binding);
    return special != nullptr &&
           (special->name.starts_with("%cluster_") || special->name == "%is_explicit_cluster");
  };
  if (std::ranges::any_of(flat.bindings, names_cluster)) return true;
  if (word == "mapa" || word == "getctarank" || in.has("multicast::cluster")) return true;
  if (word == "barrier") return in.has("cluster");
  // Copies from global memory and fences have .shared::cluster in kernels without clusters, too.
  const auto spaces = in.spaces();
  const bool reaches_peers = !spaces.empty() && spaces.front() == ptx::StateSpace::shared_cluster;
  return reaches_peers && word != "fence" && (word != "cp" || spaces.back() != ptx::StateSpace::global);
}

/// "PTX line 12 executes mapa.shared::cluster.u32 %r2, %r1, 1;"; empty if no instruction needs a cluster.
std::string first_cluster_use(const ptx::FlatFunction& entry) {
  const auto found = std::ranges::find_if(entry.instructions, is_for_clusters);
  if (found == entry.instructions.end()) return {};
  const ptx::Instruction& in = *found->instruction;
  return fmt::format("PTX line {} executes {}", in.location.line, ptx::print(in));
}

/// A launch file for a kernel, with "?" in place of values that only the user knows.
class Draft {
 public:
  Draft(std::string_view text, const ptx::Module& module, const ptx::Function& function,
        const PtxKernel& kernel)
      : function_(function),
        kernel_(kernel),
        full_name_(check::full_name(function.name)),
        cpp_types_(argument_types(full_name_)),
        is_triton_(text.find("LLVM NVPTX") != text.npos && text.find("nvvm.reqntid") == text.npos &&
                   kernel.block.has_value()) {
    if (cpp_types_.size() != function.parameters.size()) cpp_types_.assign(function.parameters.size(), "");
    const auto flat = ptx::resolve(module, function);
    if (!flat) refuse("kernel \"{}\": {}", full_name_, flat.diagnostics.front().message);
    uses_ = parameter_uses(*flat.function);
    if (!kernel.cluster) cluster_use_ = first_cluster_use(*flat.function);
    has_dynamic_shared_ = std::ranges::any_of(module.directives, [](const ptx::Directive& directive) {
      const auto* const variable = std::get_if<ptx::Variable>(&directive);
      return variable != nullptr && variable->space == ptx::StateSpace::shared &&
             variable->linkage == ptx::Linkage::extern_;
    });
  }

  [[nodiscard]] Json make() {
    Json json{{"entry", full_name_}};
    json["grid"] = "? CTAs: x, or [x, y, z]";
    if (const auto& block = kernel_.block ? kernel_.block : kernel_.max_block) {
      json["block"] = *block;
      if (!kernel_.block) json["note"] = "block is the largest that .maxntid allows";
    } else {
      json["block"] = "? threads of a CTA: x, or [x, y, z]";
    }
    if (kernel_.cluster) json["cluster"] = *kernel_.cluster;
    if (kernel_.needs_cluster || !cluster_use_.empty()) {
      json["cluster"] = "? CTAs of a cluster: x, or [x, y, z]";
      if (!kernel_.needs_cluster)
        json["cluster"] = fmt::format(
            "? CTAs of a cluster: x, or [x, y, z]; only the launch sets them, and {}", cluster_use_);
    }
    if (has_dynamic_shared_) json["shared_bytes"] = "? bytes of dynamic shared memory";
    json["buffers"] = Json::object();
    Json parameters = Json::array();
    for (std::size_t i = 0; i < uses_.size(); ++i) parameters.push_back(parameter(i));
    json["buffers"] = std::move(buffers_);
    json["parameters"] = std::move(parameters);
    return json;
  }

 private:
  /// The name of parameter `i`: as declared, or "p0" for a compiler's "kernel_param_0".
  [[nodiscard]] std::string name(std::size_t i) const {
    const std::string& name = function_.parameters[i].name;
    const std::string prefix = function_.name + "_param_";
    return name.starts_with(prefix) ? "p" + name.substr(prefix.size()) : name;
  }

  std::string add_buffer(const std::string& name, const std::string& type, const std::string& note) {
    Json buffer{{"dtype", type.empty() ? "? element type" : type},
                {"shape", "? extents of a dense array, outermost first"}};
    if (!note.empty()) buffer["note"] = note;
    buffers_[name] = std::move(buffer);
    return name;
  }

  Json value_of(const ParameterUse& use, const std::string& name, const std::string& cpp_type) {
    if (use.kind == Kind::map) {
      Json map{
          {"buffer",
           add_buffer(name, "", use.rank == 0 ? "" : fmt::format("of a tensor map of rank {}", use.rank))}};
      if (use.im2col)
        map["pixel_box"] = "? {\"lower\", \"upper\", \"channels\", \"pixels\"} of the im2col map";
      else
        map["box"] = use.rank == 0
                         ? "? extents of the box, outermost first"
                         : fmt::format("? extents of the box, {} numbers, outermost first", use.rank);
      map["swizzle"] = "? none, 32B, 64B or 128B";
      return {{"tensor_map", std::move(map)}};
    }
    if (use.kind == Kind::address) {
      std::string type = pointed_type(cpp_type);
      if (type.empty() && use.elements) type = type_name(*use.elements);
      if (!is_type(type)) type.clear();
      return {{"buffer", add_buffer(name, type, "")}};
    }
    Json value = "? " + (cpp_type.empty() ? "a number" : cpp_type);
    if (use.count > 1) value = Json(std::vector<std::string>(use.count, "? a number"));
    return {{"type", is_type(type_name(use.type)) ? type_name(use.type) : "u32"},
            {"value", std::move(value)}};
  }

  static bool is_type(const std::string& word) {
    // A copy: the use of an inline variable by reference would export a symbol from each shared library.
    static constexpr auto types = all_element_types;
    return std::ranges::any_of(types, [&](ElementType type) { return tmajit::name(type) == word; });
  }

  /// The description of a parameter that the kernel does not read: zeros.
  [[nodiscard]] Json unread_parameter(std::size_t i) const {
    const auto& variable = function_.parameters[i];
    const std::uint64_t bytes = kernel_.parameters[i].bytes;
    const bool is_number = variable.extents.empty() && variable.vector_width == 1;
    Json json = is_number
                    ? Json{{"type", type_name(variable.type)}, {"value", 0}}
                    : Json{{"struct", Json::array({Json{{"type", "u8"}, {"value", 0}}})}, {"bytes", bytes}};
    json["note"] = "the kernel never reads it";
    return json;
  }

  Json parameter(std::size_t i) {
    const auto& uses = uses_[i];
    const auto& variable = function_.parameters[i];
    const std::uint64_t bytes = kernel_.parameters[i].bytes;
    std::vector<std::string> notes;
    if (!cpp_types_[i].empty()) notes.push_back(cpp_types_[i]);
    if (const std::string role = triton_role(i); !role.empty()) notes.push_back(role);
    const bool is_read = !uses.empty() && !(uses.size() == 1 && is_unread_pointer(i));
    Json json;
    if (!is_read) {
      json = unread_parameter(i);
      notes.emplace_back(json["note"]);
    } else if (uses.size() == 1 && uses[0].offset == 0 && uses[0].bytes() == bytes) {
      // The declared type of a number may be more exact than the load's: .s32 instead of .b32.
      ParameterUse use = uses[0];
      if (use.kind == Kind::number && variable.extents.empty()) use.type = variable.type;
      json = value_of(use, name(i), cpp_types_[i]);
    } else {
      Json fields = Json::array();
      for (const ParameterUse& use : uses) {
        fields.push_back(value_of(use, fmt::format("{}_{}", name(i), use.offset), ""));
        fields.back()["at"] = use.offset;
      }
      json = {{"struct", std::move(fields)}, {"bytes", bytes}};
    }
    if (!notes.empty()) json["note"] = fmt::format("{}", fmt::join(notes, "; "));
    return json;
  }

  /// Whether parameter `i` is a pointer to Triton's scratch memory that the kernel declares but never loads.
  [[nodiscard]] bool is_unread_pointer(std::size_t i) const {
    return is_triton_ && i + 2 >= uses_.size() && uses_[i][0].kind == Kind::address && !uses_[i][0].loaded;
  }

  /// Describes an argument that Triton adds; empty for other arguments.
  [[nodiscard]] std::string triton_role(std::size_t i) const {
    if (!is_triton_) return {};
    if (i + 2 >= uses_.size() && function_.parameters[i].pointer)
      return "Triton's last parameters are scratch memory, null where a kernel needs none";
    // A tensor map is followed by the extents and strides of its tensor: two numbers for each of 5
    // dimensions.
    constexpr std::size_t max_distance = 2 * max_map_rank + 1;
    std::size_t map = i;
    while (map > 0 && !is_map(map) && i - map < max_distance) --map;
    if (!is_map(map) || map == i) return {};
    const std::size_t rank = uses_[map][0].rank;
    const std::size_t at = i - map - 1;
    if (at < rank) return fmt::format("Triton: extent {} of the tensor of {}", at, name(map));
    if (at < 2 * rank)
      return fmt::format("Triton: stride {} of the tensor of {}, in elements", at - rank, name(map));
    return {};
  }
  [[nodiscard]] bool is_map(std::size_t i) const {
    return !uses_[i].empty() && uses_[i][0].kind == Kind::map;
  }

  const ptx::Function& function_;
  const PtxKernel& kernel_;
  std::string full_name_;
  std::vector<std::string> cpp_types_;  ///< the parameters' types in C++; empty strings if unknown
  std::vector<std::vector<ParameterUse>> uses_;
  std::string cluster_use_;  ///< the first instruction that needs clusters, as text; empty: none does
  bool has_dynamic_shared_ = false;
  bool is_triton_;  ///< Triton compiled the kernel: LLVM's back end, with .reqntid but without nvvm.reqntid
  Json buffers_ = Json::object();
};

}  // namespace

std::string first_launch(std::string_view text, std::string_view file, const std::string& entry) {
  const auto kernels = kernels_of(text, file);
  const PtxKernel& kernel = choose_kernel(kernels, entry);
  const auto parsed = ptx::parse(text, file);
  return json_text(Draft(text, *parsed.module, *parsed.module->find(kernel.name), kernel).make(), 2);
}

TMAJIT_END
