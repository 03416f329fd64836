// Bulk tensor copies in tile mode, one to five dimensions. A generated kernel holds only the file of its
// rank.
#pragma once
#include "tmajit/bulk_tensor_1d.cuh"
#include "tmajit/bulk_tensor_2d.cuh"
#include "tmajit/bulk_tensor_3d.cuh"
#include "tmajit/bulk_tensor_4d.cuh"
#include "tmajit/bulk_tensor_5d.cuh"
