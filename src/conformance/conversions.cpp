#include "conformance/conversions.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using reference::Conversion;
using tmajit::ElementType;
using Rounding = Conversion::Rounding;

namespace {

using Types = std::vector<ElementType>;

const Types& integers() {
  static const Types types{ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64,
                           ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64};
  return types;
}

bool is_signed(ElementType type) {
  return std::find(integers().begin(), integers().begin() + 4, type) != integers().begin() + 4;
}

std::string ptx_name(ElementType type) {
  std::string name(tmajit::name(type));
  if (name[0] == 'i') name[0] = 's';
  return name;
}

std::string_view suffix(Rounding rounding) {
  switch (rounding) {
    case Rounding::none: return "";
    case Rounding::nearest: return ".rn";
    case Rounding::away: return ".rna";
    case Rounding::zero: return ".rz";
    case Rounding::down: return ".rm";
    default: return ".rp";
  }
}

/// How inline assembly passes a type whose bits are stored in a 64-bit variable.
struct Register {
  std::string_view constraint;
  std::string_view type;
  std::string_view from_bits;  ///< format of an expression that converts the bits
  std::string_view to_bits;    ///< format of an expression that converts back
};
Register register_of(ElementType type, bool packed) {
  if (packed) return register_of(tmajit::size_of(type) == 1 ? ElementType::u16 : ElementType::u32, false);
  switch (type) {
    case ElementType::f32: return {"f", "float", "__uint_as_float(u32({}))", "__float_as_uint({})"};
    case ElementType::f64:
      return {"d", "double", "__longlong_as_double((long long)({}))", "u64(__double_as_longlong({}))"};
    default: break;
  }
  switch (tmajit::size_of(type)) {
    case 2: return {"h", "unsigned short", "(unsigned short)({})", "{}"};
    case 8: return {"l", "unsigned long long", "{}", "{}"};
    default: return {"r", "u32", "u32({})", "{}"};
  }
}

/// Collects the forms of a conversion.
class Forms {
 public:
  explicit Forms(const CvtTarget& target) : target_(target) {}

  void add(const Conversion& how) { forms_.push_back({.how = how, .packed = target_.packed}); }
  /// Adds the form with and without .sat.
  void add_bounded(Conversion how) {
    add(how);
    how.saturates = true;
    add(how);
  }
  /// Adds the form with and without .ftz and, if `bounded`, with and without .sat.
  void add_flushed(Conversion how, bool bounded) {
    for (const bool flushes : {false, true}) {
      how.flushes = flushes;
      bounded ? add_bounded(how) : add(how);
    }
  }
  /// Adds the form with and without .relu and .satfinite.
  void add_narrow(Conversion how, bool always_finite = false) {
    for (const bool rectifies : {false, true}) {
      for (const bool finite : {false, true}) {
        if (always_finite && !finite) continue;
        how.rectifies = rectifies;
        how.ends_finite = finite;
        add(how);
      }
    }
  }
  [[nodiscard]] std::vector<CvtForm> take() { return std::move(forms_); }

 private:
  CvtTarget target_;
  std::vector<CvtForm> forms_;
};

constexpr Rounding roundings[] = {Rounding::nearest, Rounding::zero, Rounding::down, Rounding::up};

void add_to_integer(Forms& forms, ElementType to) {
  for (const ElementType from : integers()) {
    const bool holds_all = is_signed(to) == is_signed(from) ? size_of(to) >= size_of(from)
                                                            : is_signed(to) && size_of(to) > size_of(from);
    if (holds_all)
      forms.add({.to = to, .from = from});
    else
      forms.add_bounded({.to = to, .from = from});
  }
  for (const ElementType from : {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    if (from == ElementType::bf16 && size_of(to) == 1) continue;
    for (const Rounding rounding : roundings) {
      const Conversion how{.to = to, .from = from, .rounding = rounding, .to_integral = true};
      from == ElementType::f32 ? forms.add_flushed(how, false) : forms.add(how);
    }
  }
}

void add_from_integers(Forms& forms, ElementType to) {
  for (const ElementType from : integers()) {
    for (const Rounding rounding : roundings) {
      const Conversion how{.to = to, .from = from, .rounding = rounding};
      if (to != ElementType::bf16)
        forms.add_bounded(how);
      else if (size_of(from) > 1)
        forms.add(how);
    }
  }
}

/// Adds conversions within one type, including those to integral values.
void add_within(Forms& forms, ElementType type) {
  const auto add = [&](const Conversion& how) {
    if (type == ElementType::bf16) return forms.add(how);
    type == ElementType::f32 ? forms.add_flushed(how, true) : forms.add_bounded(how);
  };
  add({.to = type, .from = type});
  for (const Rounding rounding : roundings)
    add({.to = type, .from = type, .rounding = rounding, .to_integral = true});
}

void add_between_floats(Forms& forms, ElementType to) {
  const auto for_each_rounding = [](const auto& use) {
    for (const Rounding rounding : roundings) use(rounding);
  };
  switch (to) {
    case ElementType::f64:
      forms.add_flushed({.to = to, .from = ElementType::f32}, true);
      forms.add_bounded({.to = to, .from = ElementType::f16});
      return forms.add({.to = to, .from = ElementType::bf16});
    case ElementType::f32:
      for_each_rounding(
          [&](Rounding r) { forms.add_flushed({.to = to, .from = ElementType::f64, .rounding = r}, true); });
      forms.add_flushed({.to = to, .from = ElementType::f16}, true);
      return forms.add_flushed({.to = to, .from = ElementType::bf16}, false);
    default: break;
  }
  const bool is_f16 = to == ElementType::f16;
  for_each_rounding([&](Rounding r) {
    const Conversion of_f64{.to = to, .from = ElementType::f64, .rounding = r};
    const Conversion of_f32{.to = to, .from = ElementType::f32, .rounding = r};
    is_f16 ? forms.add_bounded(of_f64) : forms.add(of_f64);
    forms.add_flushed(of_f32, is_f16);
    forms.add({.to = to, .from = is_f16 ? ElementType::bf16 : ElementType::f16, .rounding = r});
  });
  for (const Rounding rounding : {Rounding::nearest, Rounding::zero}) {
    for (const bool rectifies : {false, true}) {
      for (const bool finite : {false, true}) {
        if (!rectifies && !finite) continue;
        forms.add({.to = to,
                   .from = ElementType::f32,
                   .rounding = rounding,
                   .ends_finite = finite,
                   .rectifies = rectifies});
      }
    }
  }
}

void add_packed(Forms& forms, ElementType to) {
  const Conversion of_f32{.to = to, .from = ElementType::f32, .rounding = Rounding::nearest};
  if (tmajit::size_of(to) == 1) {
    forms.add_narrow(of_f32, true);
    return forms.add_narrow({.to = to, .from = ElementType::f16, .rounding = Rounding::nearest}, true);
  }
  forms.add_narrow(of_f32);
  Conversion to_zero = of_f32;
  to_zero.rounding = Rounding::zero;
  forms.add_narrow(to_zero);
  if (to != ElementType::f16) return;
  for (const ElementType from : {ElementType::e4m3, ElementType::e5m2}) {
    for (const bool rectifies : {false, true})
      forms.add({.to = to, .from = from, .rounding = Rounding::nearest, .rectifies = rectifies});
  }
}

void add_tf32(Forms& forms) {
  const auto form = [](Rounding rounding) {
    return Conversion{.to = ElementType::tf32, .from = ElementType::f32, .rounding = rounding};
  };
  for (const Rounding rounding : {Rounding::nearest, Rounding::zero}) {
    Conversion how = form(rounding);
    forms.add(how);
    how.rectifies = true;
    forms.add(how);
  }
  Conversion how = form(Rounding::away);
  forms.add(how);
  how.ends_finite = true;
  forms.add(how);
}

}  // namespace

std::string CvtForm::name() const {
  std::string name = "cvt";
  name += suffix(how.rounding);
  if (how.to_integral) name += 'i';
  if (how.flushes) name += ".ftz";
  if (how.saturates) name += ".sat";
  // .relu is before .satfinite for 16-bit types, and after it for fp8.
  const bool relu_last = tmajit::size_of(how.to) == 1;
  if (how.rectifies && !relu_last) name += ".relu";
  if (how.ends_finite) name += ".satfinite";
  if (how.rectifies && relu_last) name += ".relu";
  name += "." + CvtTarget{how.to, packed}.name();
  return name + "." + CvtTarget{how.from, packed && how.from != ElementType::f32}.name();
}

std::string CvtForm::statement() const {
  const Register to = register_of(how.to, packed);
  const bool two_sources = packed && how.from == ElementType::f32;
  const Register from = register_of(how.from, packed && !two_sources);
  const auto source = [&](std::string_view bits) {
    return fmt::format("\"{}\"({})", from.constraint, fmt::format(fmt::runtime(from.from_bits), bits));
  };
  const std::string sources = two_sources ? source("value >> 32") + ", " + source("value") : source("value");
  return fmt::format("{{ {} to; asm(\"{} %0, %1{};\" : \"={}\"(to) : {}); value = {}; }}", to.type, name(),
                     two_sources ? ", %2" : "", to.constraint, sources,
                     fmt::format(fmt::runtime(to.to_bits), "to"));
}

std::uint64_t CvtForm::result(std::uint64_t value) const {
  if (packed) {
    const auto bits = [](ElementType type) { return 8 * tmajit::size_of(type); };
    const std::uint64_t low = reference::convert(how, value);
    const std::uint64_t high = reference::convert(how, value >> bits(how.from));
    return high << bits(how.to) | low;
  }
  const std::uint64_t result = reference::convert(how, value);
  // The result register has 32 bits, to which cvt sign-extends an i8.
  if (how.to != ElementType::i8 || (result & 0x80) == 0) return result;
  return result | 0xffffff00U;
}

std::string CvtTarget::name() const {
  return ptx_name(type) + (packed ? "x2" : "");
}

std::vector<CvtTarget> cvt_targets() {
  std::vector<CvtTarget> targets;
  for (const ElementType type : integers()) targets.push_back({type});
  for (const ElementType type :
       {ElementType::f16, ElementType::bf16, ElementType::tf32, ElementType::f32, ElementType::f64})
    targets.push_back({type});
  for (const ElementType type : {ElementType::f16, ElementType::bf16, ElementType::e4m3, ElementType::e5m2})
    targets.push_back({type, true});
  return targets;
}

std::vector<CvtForm> cvt_forms(const CvtTarget& target) {
  Forms forms(target);
  const ElementType to = target.type;
  if (target.packed) {
    add_packed(forms, to);
  } else if (to == ElementType::tf32) {
    add_tf32(forms);
  } else if (!tmajit::is_float(to)) {
    add_to_integer(forms, to);
  } else {
    add_from_integers(forms, to);
    add_within(forms, to);
    add_between_floats(forms, to);
  }
  return forms.take();
}

}  // namespace conformance
