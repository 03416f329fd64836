// Compiles fmt's functions once. With header-only fmt every file that formats would compile them again, which
// doubles its compile time. Distributions have fmt only as a shared library, which tmajit should not require.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// Defines the functions that fmt's headers only declare.
template auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
template locale_ref::locale_ref(const std::locale&);
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;

}  // namespace detail
FMT_END_NAMESPACE
