#include "case_groups.hpp"

namespace movement {

using tmajit::ElementType;

void add_small(CaseBuilder& list) {
  for (const std::uint64_t bytes : {64 * KiB, 256 * KiB, MiB, 4 * MiB, 16 * MiB}) {
    for (const ElementType type : common_types) {
      list.series("small", bytes, type, [&](Case& c) {
        c.peers = Peers::eager;
        c.quick = type == ElementType::f32;
        if (bytes <= 4 * MiB) c.most_extra_us = 0.3;
      });
    }
  }
}

void add_sizes(CaseBuilder& list) {
  for (const std::uint64_t bytes : {64 * MiB, 256 * MiB, 4 * GiB, 8 * GiB}) {
    for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
      list.series("size", bytes, type, [](Case& c) { c.peers = Peers::eager; });
    }
  }
}

void add_elementwise(CaseBuilder& list) {
  for (const ElementType type : table_types) {
    Case& c = list.copy("copy", GiB, type, "1 GiB");
    c.least_ratio = 0.97;
    c.quick = type == ElementType::u8 || type == ElementType::f32;
  }
  const auto elements = [](ElementType type) { return GiB / tmajit::size_of(type); };
  for (const ElementType type :
       {ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::i32, ElementType::f64}) {
    Case& c = list.map("map", "2a+1", 1, type, type, elements(type));
    c.least_ratio = 0.97;
    c.quick = type == ElementType::bf16;
  }
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f64}) {
    Case& c = list.map("map", "silu(a)*b+1", 2, type, type, elements(type));
    c.least_ratio = 0.97;
    c.quick = type == ElementType::f32;
  }
}

void add_casts(CaseBuilder& list) {
  using enum ElementType;
  constexpr std::uint64_t elements = GiB / 4;
  list.map("cast", "cast", 1, f32, bf16, elements).operation = Operation::cast;
  list.map("cast", "cast", 1, bf16, f32, elements).operation = Operation::cast;
  list.map("cast", "2.5a", 1, bf16, e4m3, 2 * elements).quick = true;
  list.map("cast", "normalise", 1, u8, f32, elements);
}

}  // namespace movement
