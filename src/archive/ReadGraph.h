// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "archive/Archive.h"
#include "archive/Json.h"

#include <stdexcept>

namespace pellucid::archive {

/// Where and how a record departs from the schema. Thrown inside of this layer only.
class SchemaError : public std::runtime_error {
public:
  using runtime_error::runtime_error;
};

/// Fills everything but the tensors from an ExportedProgram of torch/_export/serde/schema.py.
/// Throws SchemaError.
void readExportedProgram(JsonValue program, Archive &archive);

/// A TensorMeta whose sizes are numbers; the storage stays to be set.
Tensor readTensorMeta(JsonValue meta);

/// What the schema calls an element type.
int64_t scalarTypeNumber(DataType type);

} // namespace pellucid::archive
