#pragma once

#include <tmajit/element_type.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// The flags by which `//@ if NAME` selects lines of templates for one kernel. The generator's own flags
/// concern element types, tensor maps and expressions, and are declared from the beginning. A family declares
/// all others (SourceParts::set).
class Flags {
 public:
  /// The generator's own flags, none of them set.
  Flags();
  /// Every name is declared and set: for the device headers of a user's own kernel.
  [[nodiscard]] static Flags everything();

  /// Declares a flag, and sets it if `on`.
  void set(std::string_view name, bool on = true);
  /// Sets the flags of elements of that many bytes.
  void set_size(std::uint32_t bytes);
  /// Sets the flags of an element's type and size.
  void set_element(ElementType type);
  /// Sets the number of dimensions for which `//@ each` repeats its lines; 0, the default, makes them a loop.
  void set_dimensions(std::uint32_t count) noexcept { dimensions_ = count; }
  [[nodiscard]] std::uint32_t dimensions() const noexcept { return dimensions_; }
  /// Throws Error{internal} if the flag is not declared.
  [[nodiscard]] bool has(std::string_view name) const;
  /// Whether unused parts of templates are kept as well.
  [[nodiscard]] bool keeps_all() const noexcept { return keeps_all_; }

 private:
  bool keeps_all_ = false;
  std::uint32_t dimensions_ = 0;
  std::map<std::string, bool, std::less<>> is_set_;  ///< the declared flags
};

TMAJIT_END
