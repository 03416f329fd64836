#pragma once

#include "reference/conversion.hpp"
#include "reference/random.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace conformance {

/// One form of `cvt`, which converts one number, or two numbers into one register.
struct CvtForm {
  reference::Conversion how;  ///< the conversion of one number
  bool packed = false;  ///< two results in a register, from two f32 or from one register with both sources

  /// "cvt.rzi.ftz.s32.f32"
  [[nodiscard]] std::string name() const;
  /// A C++ statement that replaces the 64-bit variable `value` by the content of the result register.
  [[nodiscard]] std::string statement() const;
  /// Returns the content of the result register for `value`. Two results have the order of their sources in
  /// `value`.
  [[nodiscard]] std::uint64_t result(std::uint64_t value) const;
};

/// The type of conversions' results, and whether they are packed.
struct CvtTarget {
  tmajit::ElementType type{};
  bool packed = false;

  /// "s32", "f16x2"
  [[nodiscard]] std::string name() const;
};
/// Every target of sm_90.
[[nodiscard]] std::vector<CvtTarget> cvt_targets();
/// Every form of sm_90 with results of this type.
[[nodiscard]] std::vector<CvtForm> cvt_forms(const CvtTarget& target);

/// `count` numbers of a type to convert: limits of every type and their neighbours, halves, zeros,
/// subnormals, infinities, NaNs, any bits. Bits beyond the type's are arbitrary.
[[nodiscard]] std::vector<std::uint64_t> cvt_values(reference::Random& random, tmajit::ElementType type,
                                                    std::size_t count);

}  // namespace conformance
