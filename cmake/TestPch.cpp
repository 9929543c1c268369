// SPDX-License-Identifier: Apache-2.0
// The object that owns the precompiled header of cmake/TestPch.h.
