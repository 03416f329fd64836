#include "spec/enum_names.hpp"

#include <tmajit/operations/cast_transpose.hpp>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<CastOrders, all_cast_orders.size()> cast_orders_names{"choice of orders",
                                                                          {"both", "plain", "transposed"}};

}  // namespace

std::string_view name(CastOrders orders) noexcept {
  return cast_orders_names.of(orders);
}

template <>
CastOrders parse<CastOrders>(std::string_view text) {
  return cast_orders_names.parse(text);
}

TMAJIT_END
