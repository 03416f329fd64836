#include "lint/checks.hpp"

#include <bit>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// What is known of an address that is off: "an address that is 16 more than a multiple of 128".
std::string describe(const Kernel& kernel, const Value& address, std::uint32_t alignment) {
  if (const auto number = address.number()) return fmt::format("address {:#x}", *number);
  const Residue residue = kernel.values.residue(address);
  const std::uint64_t modulus =
      std::min<std::uint64_t>(alignment, 1ULL << std::min<std::uint32_t>(residue.bits, 62));
  return fmt::format("an address that is {} more than a multiple of {}", residue.remainder % modulus,
                     modulus);
}

class AddressCheck {
 public:
  AddressCheck(const Kernel& kernel, Findings& findings) : kernel_(kernel), findings_(findings) {}

  void run() {
    for (const Event& event : kernel_.events) look(event);
  }

 private:
  [[nodiscard]] bool off(const Value& address, std::uint32_t alignment) const {
    return kernel_.values.misaligned(address, static_cast<std::uint32_t>(std::countr_zero(alignment)));
  }
  void require(const Event& event, const Value& address, std::uint32_t alignment, std::string_view rule,
               std::string_view what, std::string remedy) {
    if (!off(address, alignment)) return;
    findings_.add(kernel_, event.instruction, rule,
                  fmt::format("{} at {}", what, describe(kernel_, address, alignment)),
                  fmt::format("a multiple of {}", alignment), std::move(remedy));
  }

  void look(const Event& event) {
    switch (event.kind) {
      case Kind::access:
      case Kind::write: return access(event);
      case Kind::bulk_load:
      case Kind::bulk_store:
      case Kind::prefetch: return copy(event);
      case Kind::init:
      case Kind::invalidate:
      case Kind::expect:
      case Kind::arrive_expect:
      case Kind::arrive:
      case Kind::wait: return barrier(event);
      default: return;
    }
  }

  void access(const Event& event) {
    if (!std::has_single_bit(event.access_bytes)) return;
    require(event, event.shared, event.access_bytes, "address.misaligned",
            fmt::format("an access of {} bytes", event.access_bytes),
            "align the address, or move fewer bytes at a time");
  }

  void barrier(const Event& event) {
    require(event, event.barrier, 8, "mbarrier.address", "an mbarrier", "check the address of the barrier");
  }

  void copy(const Event& event) {
    if (!event.is_tensor) {
      require(event, event.global, 16, "copy.global-alignment", "a bulk copy of global memory",
              "copy the ends of the range with threads");
    }
    if (event.kind == Kind::prefetch) return;
    if (event.kind == Kind::bulk_load) barrier(event);
    const std::uint32_t needed = event.is_tensor ? 128 : 16;
    if (off(event.shared, needed)) {
      require(event, event.shared, needed, "copy.shared-alignment",
              event.is_tensor ? "a tile in shared memory" : "a bulk copy's shared memory",
              "align the buffer");
    } else if (event.map != nullptr && event.map->alignment > needed) {
      require(event, event.shared, event.map->alignment, "copy.swizzle-base", "a swizzled tile",
              "align the stage: off its period the pattern is shifted");
    }
  }

  const Kernel& kernel_;
  Findings& findings_;
};

}  // namespace

void check_addresses(const Kernel& kernel, Findings& findings) {
  AddressCheck(kernel, findings).run();
}

}  // namespace lint
TMAJIT_END
