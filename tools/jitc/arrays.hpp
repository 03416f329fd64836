#pragma once

#include <tmajit/launch/memory_image.hpp>

namespace jitc {

using tmajit::c_order;
using tmajit::extents;
using tmajit::first_lost_element;
using tmajit::HostLayout;
using tmajit::InputArray;
using tmajit::is_dense;
using tmajit::MemoryImage;
using tmajit::MemorySpan;
using tmajit::npy_descr;
using tmajit::OutputArray;
using tmajit::strides;

}  // namespace jitc
