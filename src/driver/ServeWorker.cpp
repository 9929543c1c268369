// SPDX-License-Identifier: Apache-2.0
#include "driver/Worker.h"
#include "driver/WorkerProtocol.h"

namespace pellucid::driver {

int serveWorker(int input, int output) {
  FrameTag tag;
  std::string payload;
  if (readFrame(input, tag, payload) != FrameStatus::Whole || tag != FrameTag::Job)
    return 2;
  auto job = decodeJob(payload);
  if (!job)
    return 2;
  CodegenResult result;
  Diagnostics diagnostics;
  auto announce = [](void *where, const std::string &symbol) {
    writeFrame(*static_cast<int *>(where), FrameTag::Kernel, symbol);
  };
  bool ok = runCodegenJob(*job, result, diagnostics, announce, &output);
  if (!ok && !diagnostics.hasErrors())
    diagnostics.error(SourceLocation("code generation"), "failed without saying why");
  bool sent = ok ? writeFrame(output, FrameTag::Result, encodeResult(result))
                 : writeFrame(output, FrameTag::Error, encodeDiagnostics(diagnostics));
  return sent ? 0 : 2;
}

} // namespace pellucid::driver
