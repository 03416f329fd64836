#pragma once

#include "reference/conversion.hpp"
#include "reference/random.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace conformance {

/// One form of `cvt`, of one number or of two that share a register.
struct CvtForm {
  reference::Conversion how;
  bool packed = false;  ///< two results in a register; sources are two f32, or one register with both

  /// "cvt.rzi.ftz.s32.f32"
  [[nodiscard]] std::string name() const;
  /// The statement that replaces `value`, of 64 bits, by the content of the instruction's result register.
  [[nodiscard]] std::string statement() const;
  /// Returns the content of the result register for `value`. With two results, the second source's is in the
  /// low half.
  [[nodiscard]] std::uint64_t result(std::uint64_t value) const;
};

/// The type of conversions' results, and whether they are packed.
struct CvtTarget {
  tmajit::ElementType type{};
  bool packed = false;

  /// "s32", "f16x2"
  [[nodiscard]] std::string name() const;
};
[[nodiscard]] std::vector<CvtTarget> cvt_targets();
/// Every form of sm_90 with results of this type.
[[nodiscard]] std::vector<CvtForm> cvt_forms(const CvtTarget& target);

/// `count` numbers of a type to convert: limits of every type and their neighbours, halves, zeros,
/// subnormals, infinities, NaNs, any bits. Bits beyond the type's are arbitrary.
[[nodiscard]] std::vector<std::uint64_t> cvt_values(reference::Random& random, tmajit::ElementType type,
                                                    std::size_t count);

}  // namespace conformance
