#include "c/variants.hpp"

#include "spec/refuse.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace c {

NamedConstants::NamedConstants(std::vector<KernelConstant> constants) : constants_(std::move(constants)) {
  for (const KernelConstant& constant : constants_) literals_.push_back(constant.literal());
  for (std::size_t i = 0; i < constants_.size(); ++i)
    texts_.push_back({.name = constants_[i].name.c_str(), .text = literals_[i].c_str()});
}

DescribedVariants::DescribedVariants(OwnKernel kernel, const std::vector<ConstantChoices>& choices,
                                     Describe describe, void* context)
    : kernel_(std::move(kernel)), combinations_(combinations(choices)) {
  for (const std::vector<KernelConstant>& constants : combinations_) {
    const NamedConstants named(constants);
    tmajit_variant& variant = variants_.emplace_back();
    describe(context, named.texts().data(), named.texts().size(), &variant);
  }
}

OwnKernel DescribedVariants::with(const std::vector<KernelConstant>& constants) const {
  OwnKernel kernel = kernel_;
  kernel.constants.insert(kernel.constants.end(), constants.begin(), constants.end());
  return kernel;
}

const OwnLaunch& DescribedVariants::launch_of(const std::vector<KernelConstant>& constants) const {
  const auto number = std::ranges::find(combinations_, constants) - combinations_.begin();
  const tmajit_variant& variant = variants_[static_cast<std::size_t>(number)];
  if (variant.launch) return *variant.launch;
  if (variant.why_none) std::rethrow_exception(variant.why_none);
  refuse("describe() called neither tmajit_variant_launch() nor tmajit_variant_leave_out()");
}

}  // namespace c
TMAJIT_END
