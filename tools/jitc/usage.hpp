#pragma once

#include "spec/refuse.hpp"

namespace jitc {

using tmajit::fail;
using tmajit::naming;
using tmajit::refuse;

}  // namespace jitc
