#ifndef TMAJIT_C_H
#define TMAJIT_C_H

/// tmajit for C99, and for every language that calls C. docs/c.md says how objects are owned, which calls
/// threads may share, and which changes a new version may make. Every header of this interface:
#include <tmajit/c/chain.h>
#include <tmajit/c/check.h>
#include <tmajit/c/counters.h>
#include <tmajit/c/kernel.h>
#include <tmajit/c/log.h>
#include <tmajit/c/operations.h>
#include <tmajit/c/plan.h>
#include <tmajit/c/prefetch.h>
#include <tmajit/c/recipes.h>
#include <tmajit/c/runtime.h>
#include <tmajit/c/status.h>
#include <tmajit/c/tensor.h>
#include <tmajit/c/tuning.h>

#endif
