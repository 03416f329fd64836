#pragma once

#include "command_line/option_group.hpp"

namespace jitc {

using tmajit::command_line::offers;
using tmajit::command_line::one_of;
using tmajit::command_line::OptionGroup;

}  // namespace jitc
