// SPDX-License-Identifier: Apache-2.0
#include "exec/ScriptDevices.h"

#include "eager/QueuedRuns.h"
#include "exec/ScriptHooks.h"
#include "host/InterpreterState.h"
#include "trace/TensorCalls.h"

#include <chrono>

namespace pellucid::exec {

namespace h = pellucid::host;
using Bound = std::vector<h::Value>;
using graph::Device;

namespace {

/// A point in the time of the script's device; of the host's where that is the CPU.
class MomentObject : public h::Object {
public:
  std::string typeName() const override { return "Moment"; }
  std::unique_ptr<eager::CudaDevice::Moment> onDevice;
  std::chrono::steady_clock::time_point onHost = std::chrono::steady_clock::now();
};

class Devices {
public:
  explicit Devices(ScriptHooks &hooks) : session(hooks.tensors()) {}

  eager::SessionDevices &all() { return session.devices(); }
  /// Computed as far as memory is concerned.
  void flush() {
    if (session.recorder().isRecording())
      session.recorder().flush();
    eager::QueuedRuns::get().settle();
  }
  bool areReal() { return all().areReal(); }
  int indexOf(h::Interpreter &i, const h::Value &value) {
    if (value.isNone())
      return all().current;
    auto device = trace::deviceAsked(session.tracer(), i, value);
    return device && device->kind == Device::Kind::Cuda ? device->index : all().current;
  }
  eager::CudaDevice &at(h::Interpreter &i, const h::Value &value) {
    return eager::CudaDevices::get().at(indexOf(i, value));
  }

  eager::Session &session;
};

h::Value propertiesOf(eager::CudaDevice &device) {
  h::Dict out;
  for (const auto &[name, value] : device.properties)
    out.set(h::Value(name), h::Value(value));
  out.set(h::Value("name"), h::Value(device.name));
  out.set(h::Value("total_memory"), h::Value(static_cast<int64_t>(device.totalBytes)));
  return h::Value::dict(std::move(out));
}

h::Value memoryOf(eager::CudaDevice &device) {
  eager::DeviceMemory::Statistics counts = device.memory().statistics();
  auto [free, total] = device.freeMemory();
  h::Tuple out;
  for (size_t number : {counts.allocated, counts.peak, counts.reserved, counts.peakReserved, free,
                        total, counts.given, counts.made})
    out.push_back(h::Value(static_cast<int64_t>(number)));
  return h::Value::tuple(std::move(out));
}

/// Overwrites the device's cache, and notes the time, just before the next program is queued: what
/// the host does until then is not measured, and while the device fills, it gets ahead.
void markBeforeNextRun(Devices &devices, const std::shared_ptr<MomentObject> &moment) {
  eager::CudaDevice &device = eager::CudaDevices::get().at(devices.all().current);
  eager::beforeNextRun([&device, moment] {
    constexpr size_t cacheBytes = size_t(256) << 20;
    if (void *block = device.memory().allocate(cacheBytes)) {
      device.fill(block, 0, cacheBytes);
      device.memory().release(block);
    }
    moment->onDevice = device.mark();
  });
}

} // namespace

void addDevices(h::Module &module, ScriptHooks &hooks) {
  auto devices = std::make_shared<Devices>(hooks);
  auto add = [&](const char *name, const char *signature, auto body) {
    module.globals->set(name,
                        h::native(name, signature, [devices, body](h::Interpreter &i, Bound &a) {
                          return body(*devices, i, a);
                        }));
  };
  add("device_count", "", [](Devices &d, h::Interpreter &, Bound &) {
    return h::Value(static_cast<int64_t>(d.all().count()));
  });
  add("is_real", "", [](Devices &d, h::Interpreter &, Bound &) { return h::Value(d.areReal()); });
  add("device_index", "device", [](Devices &d, h::Interpreter &i, Bound &a) {
    return h::Value(static_cast<int64_t>(d.indexOf(i, a[0])));
  });
  add("set_current", "device", [](Devices &d, h::Interpreter &i, Bound &a) {
    d.all().current = d.indexOf(i, a[0]);
    return h::Value();
  });
  add("set_default", "device", [](Devices &d, h::Interpreter &i, Bound &a) {
    d.all().byDefault = trace::deviceAsked(d.session.tracer(), i, a[0]);
    return h::Value();
  });
  add("default_device", "", [](Devices &d, h::Interpreter &, Bound &) {
    return d.all().byDefault ? h::Value(graph::toString(*d.all().byDefault)) : h::Value();
  });
  add("properties", "device", [](Devices &d, h::Interpreter &i, Bound &a) {
    return d.areReal() ? propertiesOf(d.at(i, a[0])) : h::Value();
  });
  add("memory", "device", [](Devices &d, h::Interpreter &i, Bound &a) {
    d.flush();
    return d.areReal() ? memoryOf(d.at(i, a[0])) : h::Value();
  });
  add("reset_peak", "device", [](Devices &d, h::Interpreter &i, Bound &a) {
    d.flush();
    if (d.areReal())
      d.at(i, a[0]).memory().resetPeak();
    return h::Value();
  });
  add("release_kept", "", [](Devices &d, h::Interpreter &, Bound &) {
    d.flush();
    if (d.areReal())
      for (int one = 0; one < d.all().count(); ++one)
        eager::CudaDevices::get().at(one).memory().releaseKept();
    return h::Value();
  });
  add("synchronize", "device", [](Devices &d, h::Interpreter &i, Bound &a) {
    d.flush();
    if (d.areReal())
      d.at(i, a[0]).synchronize();
    return h::Value();
  });
  add("mark", "", [](Devices &d, h::Interpreter &, Bound &) {
    d.flush();
    auto moment = std::make_shared<MomentObject>();
    if (d.areReal())
      moment->onDevice = eager::CudaDevices::get().at(d.all().current).mark();
    return h::Value(moment);
  });
  add("mark_before_next", "", [](Devices &d, h::Interpreter &, Bound &) {
    d.flush();
    auto moment = std::make_shared<MomentObject>();
    if (d.areReal())
      markBeforeNextRun(d, moment);
    return h::Value(moment);
  });
  add("wait", "moment", [](Devices &, h::Interpreter &, Bound &a) {
    if (auto &moment = a[0].expect<MomentObject>("an event"); moment.onDevice)
      moment.onDevice->wait();
    return h::Value();
  });
  add("milliseconds", "begin, end", [](Devices &, h::Interpreter &, Bound &a) {
    auto &begin = a[0].expect<MomentObject>("an event"),
         &end = a[1].expect<MomentObject>("an event");
    if (begin.onDevice && end.onDevice)
      return h::Value(begin.onDevice->millisecondsTo(*end.onDevice));
    // Nothing was run on the device between the two.
    if (begin.onDevice || end.onDevice)
      return h::Value(0.0);
    return h::Value(std::chrono::duration<double, std::milli>(end.onHost - begin.onHost).count());
  });
}

} // namespace pellucid::exec
