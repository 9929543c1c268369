// SPDX-License-Identifier: Apache-2.0
// Tensors of scripts on devices whose memory the host cannot read: where they are computed, and
// what is copied.
#include "host/Interpreter.h"
#include "reference/graph/Interpreter.h"
#include "trace/EagerRecorder.h"
#include "trace/TensorObject.h"
#include "trace/TraceHooks.h"
#include "trace/TraceSession.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pellucid::trace {

namespace h = pellucid::host;
using graph::Device;

namespace {

using Data = std::shared_ptr<const std::byte>;

/// Two devices of host memory under addresses that are none: who reads them ends the process.
class FarDevices : public ScriptDevices {
public:
  int count() override { return devices; }
  Device placeOf(Device device) const override { return isCpu ? Device() : device; }
  Data toDevice(const std::byte *data, size_t bytes, Device device) override {
    ++uploads;
    uploaded += bytes;
    return far(copied(data, bytes), device);
  }
  Data toHost(const std::byte *data, size_t bytes, Device device) override {
    ++downloads;
    downloaded += bytes;
    return copied(near(data, device), bytes);
  }

  std::shared_ptr<std::byte> memoryOn(size_t bytes, Device device) override {
    std::shared_ptr<std::byte[]> made(new std::byte[std::max<size_t>(bytes, 1)]);
    Data tagged = far({made, made.get()}, device);
    return {made, const_cast<std::byte *>(tagged.get())};
  }
  void copyWithin(std::byte *to, const std::byte *from, size_t bytes, Device device) override {
    std::memcpy(const_cast<std::byte *>(near(to, device)), near(from, device), bytes);
  }

  /// What a kernel on `device` sees at an address.
  static const std::byte *near(const std::byte *data, Device device) {
    uintptr_t address = reinterpret_cast<uintptr_t>(data);
    EXPECT_EQ(address >> 60, static_cast<uintptr_t>(device.index) + 1)
        << "memory of another device";
    return reinterpret_cast<const std::byte *>(address & ((uintptr_t(1) << 60) - 1));
  }
  static Data far(const Data &data, Device device) {
    uintptr_t tag = (static_cast<uintptr_t>(device.index) + 1) << 60;
    return {data,
            reinterpret_cast<const std::byte *>(reinterpret_cast<uintptr_t>(data.get()) | tag)};
  }

  int devices = 2;
  bool isCpu = false;
  size_t uploads = 0, downloads = 0, uploaded = 0, downloaded = 0;

private:
  static Data copied(const std::byte *data, size_t bytes) {
    std::shared_ptr<std::byte[]> copy(new std::byte[std::max<size_t>(bytes, 1)]);
    std::memcpy(copy.get(), data, bytes);
    return {copy, copy.get()};
  }
};

class Devices : public testing::Test {
protected:
  Tracer tracer;
  FarDevices devices;
  std::vector<std::string> places; ///< of the segments, in order
  EagerRecorder recorder{tracer, [this](const graph::Program &program, Device device) {
                           return segment(program, device);
                         }};
  TraceHooks hooks{&tracer};
  std::unique_ptr<h::Interpreter> interpreter;
  std::shared_ptr<h::Module> module;

  SegmentRun segment(const graph::Program &given, Device device) {
    auto program = std::make_shared<graph::Program>(given.clone());
    return [this, program, device](const std::vector<ConcreteTensor> &inputs) {
      bool isFar = device.kind == Device::Kind::Cuda;
      places.push_back(toString(device));
      std::vector<reference::Datum> data;
      for (ConcreteTensor input : inputs) {
        EXPECT_EQ(input.device, device);
        if (isFar)
          input.data = {input.data, FarDevices::near(input.data.get(), device)};
        reference::Tensor tensor(input.dtype, input.shape);
        std::memcpy(tensor.storage->data(), input.dense().get(), tensor.storage->size());
        data.emplace_back(std::move(tensor));
      }
      reference::EvaluateOptions options;
      options.registry = &tracer.registry;
      std::vector<Data> out;
      for (const auto &result : reference::evaluate(*program, program->main, data, {}, options)) {
        reference::Tensor dense = std::get<reference::Tensor>(result).copy();
        Data made(dense.storage, reinterpret_cast<const std::byte *>(dense.storage->data()));
        out.push_back(isFar ? FarDevices::far(made, device) : made);
      }
      return out;
    };
  }

  void SetUp() override {
    tracer.devices = &devices;
    h::InterpreterOptions options;
    options.hooks = &hooks;
    addTracedModules(options.modules, tracer, {});
    addEagerModules(options.modules, tracer);
    interpreter = std::make_unique<h::Interpreter>(std::move(options));
  }
  void TearDown() override {
    module.reset();
    interpreter.reset();
  }
  void run(const std::string &text) {
    module = interpreter->importSource(
        "script", std::make_shared<SourceFile>("script.py", "import torch\n" + text));
  }
  std::string shown(const char *name) { return interpreter->str(*module->globals->find(name)); }
};

TEST_F(Devices, ValuesStayOnTheDevice) {
  run("x = torch.arange(100000.0).to('cuda')\nfor i in range(8):\n    x = (x * 0.5).exp().sin()\n"
      "    last = x[0].item()\n");
  EXPECT_EQ(devices.uploaded, 400000u);
  // A number for each item().
  EXPECT_EQ(devices.downloads, 8u);
  EXPECT_EQ(devices.downloaded, 32u);
  EXPECT_NE(shown("x").find("device='cuda:0'"), std::string::npos);
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places[0], "cpu"); // arange
  for (size_t i = 1; i < places.size(); ++i)
    EXPECT_EQ(places[i], "cuda:0");
}

TEST_F(Devices, ASegmentIsComputedOnOneDevice) {
  run("a = torch.arange(4.0).exp()\nb = torch.arange(4.0, device='cuda').exp()\n"
      "c = torch.arange(4.0, device='cuda:1').exp()\nd = a.sin()\n"
      "r = [t.sum().item() for t in (a, b, c, d)]\n"
      "same = r[0] == r[1] == r[2]\nwhere = (str(a.device), str(b.device), str(c.device))\n");
  EXPECT_EQ(shown("same"), "True");
  EXPECT_EQ(shown("where"), "('cpu', 'cuda:0', 'cuda:1')");
  ASSERT_GE(places.size(), 4u);
  EXPECT_EQ(places[0], "cpu");
  EXPECT_EQ(places[1], "cuda:0");
  EXPECT_EQ(places[2], "cuda:1");
  EXPECT_EQ(places[3], "cpu");
}

TEST_F(Devices, CopiesGoWhereTheyAreAsked) {
  run("x = torch.arange(6.0).reshape(2, 3)\ny = x.cuda().exp()\nz = y.cpu()\n"
      "w = (z.log() + x).tolist()\nu = y.to('cuda:1').log().round()\nv = u.t().tolist()\n"
      "t = torch.zeros(2, 3)\nt.copy_(u)\ns = (t + 1).tolist()\n"
      "where = (str(y.device), str(z.device), str(u.device), str(t.device))\n");
  EXPECT_EQ(shown("w"), "[[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]");
  EXPECT_EQ(shown("v"), "[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]");
  EXPECT_EQ(shown("s"), "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]");
  EXPECT_EQ(shown("where"), "('cuda:0', 'cpu', 'cuda:1', 'cpu')");
}

TEST_F(Devices, APartOfHostMemoryIsCopiedAlone) {
  run("data = torch.arange(100000.0)\ntotal = torch.zeros((), device='cuda')\n"
      "for i in range(4):\n    total += data[i * 10:i * 10 + 10].to('cuda').exp().log().sum()\n"
      "r = round(total.item(), 2)\n");
  EXPECT_EQ(shown("r"), "780.0");
  EXPECT_LT(devices.uploaded, 1000u);
}

TEST_F(Devices, NumbersWithoutDimsGoAlong) {
  run("x = torch.ones(3, device='cuda').exp()\na = (x * torch.tensor(2.0)).log().sum()\n"
      "b = (torch.tensor(2.0).exp() * x).device\nc = round(a.item(), 3)\n");
  EXPECT_EQ(shown("b"), "cuda:0");
  EXPECT_EQ(shown("c"), "5.079");
}

TEST_F(Devices, TwoDevicesInOneOperatorAreRefused) {
  run("x, y = torch.ones(3, device='cuda'), torch.ones(3)\ntexts = []\n"
      "for f in (lambda: x + y, lambda: y + x, lambda: x + torch.ones(3, device='cuda:1')):\n"
      "    try:\n        f()\n    except RuntimeError as e:\n        texts.append(str(e)[-37:])\n"
      "try:\n    torch.ones(3, device='cuda:2')\nexcept RuntimeError as e:\n"
      "    texts.append(str(e)[:34])\n");
  EXPECT_EQ(shown("texts"),
            "['at least two devices, cuda:0 and cpu!', 'at least two devices, cuda:0 "
            "and cpu!', 'least two devices, cuda:0 and cuda:1!', 'CUDA error: invalid "
            "device ordinal']");
}

TEST_F(Devices, GradientsLieWhereTheirLeavesDo) {
  run("m = torch.nn.Linear(3, 2).to('cuda')\nx = torch.ones(4, 3, device='cuda')\n"
      "m(x).exp().sum().backward()\nw = torch.ones(3).requires_grad_()\n"
      "c = torch.full((3,), 2.0)\n((w * c).cuda() * torch.ones(3, "
      "device='cuda')).exp().sum().backward()\n"
      "where = (str(m.weight.grad.device), str(m.bias.grad.device), str(w.grad.device))\n"
      "o = torch.optim.AdamW(m.parameters(), lr=0.1)\no.step()\n"
      "value = [round(g, 3) for g in w.grad.tolist()]\n"
      "after = (str(m.bias.device), m.bias.isfinite().all().item())\n");
  EXPECT_EQ(shown("where"), "('cuda:0', 'cuda:0', 'cpu')");
  EXPECT_EQ(shown("value"), "[14.778, 14.778, 14.778]");
  EXPECT_EQ(shown("after"), "('cuda:0', True)");
}

TEST_F(Devices, ADeviceMayStandForTheCpu) {
  devices.isCpu = true;
  run("x = torch.arange(5.0, device='cuda').exp()\ny = (x + torch.ones(5, device='cuda')).sum()\n"
      "where, value = str(y.device), round(y.item(), 2)\n");
  EXPECT_EQ(shown("where"), "cuda:0");
  EXPECT_EQ(shown("value"), "90.79");
  EXPECT_EQ(devices.uploads + devices.downloads, 0u);
  for (const std::string &place : places)
    EXPECT_EQ(place, "cpu");
}

TEST_F(Devices, WithoutOneItIsPyTorchsError) {
  devices.devices = 0;
  run("try:\n    torch.ones(3, device='cuda')\nexcept AssertionError as e:\n    text = "
      "str(e)[:38]\n");
  EXPECT_EQ(shown("text"), "Torch not compiled with CUDA enabled: ");
}

TEST_F(Devices, WhereNothingIsSaid) {
  devices.byDefault = Device{Device::Kind::Cuda, 1};
  devices.areUsed = true;
  run("a = torch.arange(3)\nb = torch.zeros(2)\nc = torch.nn.Linear(2, 2)\n"
      "d = torch.ones(1, device='cpu')\n"
      "where = [str(t.device) for t in (a, b, c.weight, c(b), d)]\n");
  EXPECT_EQ(shown("where"), "['cuda:1', 'cuda:1', 'cuda:1', 'cuda:1', 'cpu']");
}

} // namespace
} // namespace pellucid::trace
