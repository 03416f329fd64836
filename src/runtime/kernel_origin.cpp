#include "runtime/kernel_origin.hpp"

#include "spec/inside.hpp"

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/xxhash.h>

TMAJIT_BEGIN
namespace {

template <class T>
std::optional<T> copy_of(const T* value) {
  return value == nullptr ? std::nullopt : std::optional(*value);
}
template <class T>
const T* pointer_to(const std::optional<T>& value) noexcept {
  return value ? &*value : nullptr;
}

}  // namespace

std::uint64_t KernelRequest::hash() const noexcept {
  return llvm::xxHash64(llvm::StringRef(plan != nullptr ? plan->key() : std::string_view(custom->text)));
}

KernelOrigin::KernelOrigin(const KernelRequest& request)
    : content_(std::make_shared<const Content>(Content{.plan = copy_of(request.plan),
                                                       .custom = copy_of(request.custom),
                                                       .shared_bytes = request.shared_bytes})) {}

KernelRequest KernelOrigin::request() const noexcept {
  return {.plan = pointer_to(content_->plan),
          .custom = pointer_to(content_->custom),
          .shared_bytes = content_->shared_bytes};
}

bool KernelOrigin::is_of(const KernelPlan& plan) const noexcept {
  return content_->plan &&
         (Inside::state(*content_->plan) == Inside::state(plan) || content_->plan->key() == plan.key());
}

bool operator==(const KernelOrigin& origin, const KernelRequest& request) noexcept {
  if (request.plan != nullptr) return origin.is_of(*request.plan);
  if (!origin.content_->custom || origin.content_->shared_bytes != request.shared_bytes) return false;
  const Source& custom = *origin.content_->custom;
  const Source& other = *request.custom;
  const bool same_headers = custom.headers == other.headers ||
                            (custom.headers && other.headers && *custom.headers == *other.headers);
  return custom.text == other.text && custom.entry == other.entry && custom.expression == other.expression &&
         same_headers;
}

TMAJIT_END
