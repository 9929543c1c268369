// SPDX-License-Identifier: Apache-2.0
/// Archives of torch.export.save; bytes that are no zip file are read as a symbolic text and as
/// JSON. Every tensor must lie within the bytes.
#include "FuzzTarget.h"

#include "archive/Archive.h"
#include "archive/Json.h"
#include "archive/SymbolicText.h"
#include "support/Diagnostics.h"

#include <cstdlib>

using namespace pellucid;

static void mustLieIn(const archive::Tensor &tensor, std::span<const uint8_t> data) {
  const auto *start = reinterpret_cast<const uint8_t *>(tensor.storage.get());
  if (tensor.bytes && (start < data.data() || start + tensor.bytes > data.data() + data.size()))
    std::abort();
  volatile uint8_t last = tensor.bytes ? start[tensor.bytes - 1] : 0;
  (void)last;
}

int pellucid::fuzz::runOne(std::span<const uint8_t> data) {
  if (data.size() < 2 || data[0] != 'P') {
    std::string error;
    (void)archive::parseSymbolic(textOf(data), error);
    archive::JsonDocument document;
    std::string text = textOf(data);
    (void)document.read(text).ok();
    return 0;
  }
  try {
    archive::Archive read = archive::readArchive(data, nullptr, "archive");
    for (const auto *tensors : {&read.weights, &read.constants})
      for (const auto &[name, tensor] : *tensors)
        mustLieIn(tensor, data);
  } catch (const DiagnosticError &) {
  }
  return 0;
}
