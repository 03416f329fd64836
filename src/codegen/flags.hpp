#pragma once

#include <tmajit/element_type.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// The properties of a kernel that the text of its source depends on.
class Flags {
 public:
  /// All known ones: what the device headers of a custom source are expanded with.
  [[nodiscard]] static Flags everything();

  /// Throws Error{internal} for a name that is not known.
  void set(std::string_view name, bool on = true);
  /// The flags of elements of that many bytes.
  void set_size(std::uint32_t bytes);
  /// The flags of an element's type and size.
  void set_element(ElementType type);
  /// The number of dimensions for which `//@ each` writes its lines; 0, at first, where it is not one number.
  void set_dimensions(std::uint32_t count) noexcept { dimensions_ = count; }
  [[nodiscard]] std::uint32_t dimensions() const noexcept { return dimensions_; }
  /// Throws Error{internal} for a name that is not known; the caller says where it stands.
  [[nodiscard]] bool has(std::string_view name) const;
  /// Whether everything is kept, also what nothing uses.
  [[nodiscard]] bool keeps_all() const noexcept { return keeps_all_; }

 private:
  bool keeps_all_ = false;
  std::uint32_t dimensions_ = 0;
  std::set<std::string, std::less<>> set_;
};

TMAJIT_END
