// SPDX-License-Identifier: Apache-2.0
// Precompiled for every test program without MLIR (cmake/PellucidTargets.cmake). Not to be included
// by hand.
#include "StdPch.h"

#include <gtest/gtest.h>
