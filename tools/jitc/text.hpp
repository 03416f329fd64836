#pragma once

#include "report/text.hpp"

namespace jitc {

using tmajit::counted;
using tmajit::describe_bytes;
using tmajit::format_table;
using tmajit::parse_number;
using tmajit::Rows;
using tmajit::split;
using tmajit::width_of;
using tmajit::wrap;

}  // namespace jitc
