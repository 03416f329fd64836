#include "c/variants.hpp"

#include "spec/refuse.hpp"

TMAJIT_BEGIN
namespace c {

NamedConstants::NamedConstants(std::vector<KernelConstant> constants) : constants_(std::move(constants)) {
  for (const KernelConstant& constant : constants_) literals_.push_back(constant.literal());
  for (std::size_t i = 0; i < constants_.size(); ++i)
    texts_.push_back({.name = constants_[i].name.c_str(), .text = literals_[i].c_str()});
}

DescribedVariants::DescribedVariants(OwnKernel kernel, std::vector<ConstantChoices> choices,
                                     Describe describe, void* context)
    : kernel_(std::move(kernel)), choices_(std::move(choices)) {
  for (std::vector<KernelConstant>& constants : combinations(choices_)) {
    const NamedConstants named(std::move(constants));
    tmajit_variant& variant = variants_.emplace_back();
    describe(context, named.texts().data(), named.texts().size(), &variant);
  }
}

const OwnLaunch& DescribedVariants::launch_of(const std::vector<KernelConstant>& constants) const {
  const tmajit_variant& variant = variants_[combination_number(choices_, constants)];
  if (variant.launch) return *variant.launch;
  if (variant.why_none) std::rethrow_exception(variant.why_none);
  refuse("describe() called neither tmajit_variant_launch() nor tmajit_variant_leave_out()");
}

}  // namespace c
TMAJIT_END
