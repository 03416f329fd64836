#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/counters.hpp>
#include <tmajit/kernel_plan.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

TMAJIT_BEGIN

/// A request for the kernel of a plan, whose source is generated only if needed, or of a user's own source.
struct KernelRequest {
  const KernelPlan* plan = nullptr;
  const Source* custom = nullptr;
  std::uint32_t shared_bytes = 0;  ///< the most dynamic shared memory that a launch may use
  /// For the record of the kernel. It is no part of a KernelOrigin: the kernel is the same.
  MadeBy made_by = MadeBy::caller;

  /// Equal requests have equal hashes; different requests rarely do.
  [[nodiscard]] std::uint64_t hash() const noexcept;
};

/// A copy of the request for a kernel. It identifies the kernel in memory, and the kernel can be rebuilt from
/// it. Cheap to copy.
class KernelOrigin {
 public:
  explicit KernelOrigin(const KernelRequest& request);

  /// The request, with pointers into this object: valid for as long as it lives.
  [[nodiscard]] KernelRequest request() const noexcept;
  /// Whether this is the origin of the kernel of `plan`.
  [[nodiscard]] bool is_of(const KernelPlan& plan) const noexcept;

  /// Plans have the same kernel if their keys are equal. Users' own sources have the same kernel if their
  /// texts, entries, expressions, headers and shared memory are equal.
  friend bool operator==(const KernelOrigin& origin, const KernelRequest& request) noexcept;
  friend bool operator==(const KernelOrigin& a, const KernelOrigin& b) noexcept {
    return a.content_ == b.content_ || a == b.request();
  }

 private:
  struct Content {
    std::optional<KernelPlan> plan;
    std::optional<Source> custom;
    std::uint32_t shared_bytes;
  };
  std::shared_ptr<const Content> content_;
};

TMAJIT_END
