// SPDX-License-Identifier: Apache-2.0
#include "trace/TorchRandom.h"

#include "host/ByteString.h"
#include "trace/EagerRecorder.h"
#include "trace/HostDraws.h"
#include "trace/TensorCalls.h"
#include "trace/TorchSources.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

void refuseInProgram(const Tracer &tracer, h::Interpreter &interpreter, const char *what) {
  if (!tracer.isConstructing())
    interpreter.refuse(std::string(what) +
                       " in forward: a program draws from the seed and offset of its run "
                       "(pellucid run --seed)");
}

/// As torch takes seeds: negative ones from the end of 64 bits.
uint64_t seedOf(h::Interpreter &interpreter, const h::Value &value) {
  if (!value.isInt())
    interpreter.raise("TypeError", "a seed is an integer, got " + h::typeName(value));
  h::Int seed = value.integer();
  if (seed < std::numeric_limits<int64_t>::min() || seed > std::numeric_limits<uint64_t>::max())
    interpreter.raise("RuntimeError", "Overflow when unpacking long");
  return static_cast<uint64_t>(seed);
}

h::Value truncatedNormal(Tracer &tracer, h::Interpreter &i, std::vector<h::Value> &a) {
  auto *tensor = a[0].as<TensorObject>();
  refuseInProgram(tracer, i, "trunc_normal_");
  auto number = [&](size_t at) { return i.toDouble(a[at], "a number of trunc_normal_"); };
  HostDraw draw;
  draw.kind = HostDraw::Kind::TruncatedNormal;
  draw.a = number(1);
  draw.b = number(2);
  draw.low = number(3);
  draw.high = number(4);
  // Numbers that are never inside would be drawn without end.
  if (!(draw.b > 0) || !(draw.low < draw.high) || !std::isfinite(draw.a) ||
      !std::isfinite(draw.b) || std::isnan(draw.low) || std::isnan(draw.high))
    i.refuse("trunc_normal_ draws between a and b, a < b, of a finite mean and a std above 0");
  return fillDrawn(*tensor, i, draw, a[5]);
}

h::Value orthogonalMatrix(Tracer &tracer, h::Interpreter &i, std::vector<h::Value> &a) {
  refuseInProgram(tracer, i, "orthogonal_");
  HostDraw draw;
  draw.kind = HostDraw::Kind::Orthogonal;
  draw.a = i.toDouble(a[1], "orthogonal_'s gain");
  return fillDrawn(*a[0].as<TensorObject>(), i, draw, a[2]);
}

} // namespace

void addTorchRandom(h::NativeModules &modules, Tracer &tracer) {
  modules.add("torch._pellucid_random", [&tracer](h::Interpreter &interpreter, h::Module &module) {
    auto source = interpreter.importSource(
        "torch_random_source", std::make_shared<SourceFile>("<torch.random>", randomSource));
    auto add = [&](const char *name, const char *parameters,
                   std::function<h::Value(h::Interpreter &, std::vector<h::Value> &)> run) {
      source->globals->set(name, h::native(name, parameters, std::move(run)));
    };
    auto wrapped = [](auto made) {
      return h::Value(
          std::static_pointer_cast<h::Object>(std::make_shared<GeneratorStream>(std::move(made))));
    };
    // Numbers of a device come from a generator of its own, in scripts.
    auto indexOf = [&tracer](h::Interpreter &i, const h::Value &device) -> std::optional<int> {
      if (!tracer.devices || !isEager(tracer))
        return std::nullopt;
      auto asked = deviceAsked(tracer, i, device);
      return asked && asked->kind == graph::Device::Kind::Cuda ? std::optional(asked->index)
                                                               : std::nullopt;
    };
    add("_new_stream", "seed, device",
        [wrapped, indexOf](h::Interpreter &i, std::vector<h::Value> &a) {
          uint64_t seed = seedOf(i, a[0]);
          if (auto index = indexOf(i, a[1]))
            return wrapped(std::make_shared<DeviceGenerator>(DeviceGenerator{seed, 0, *index}));
          return wrapped(std::make_shared<CpuGenerator>(seed));
        });
    add("_default_stream", "device=None",
        [&tracer, wrapped, indexOf](h::Interpreter &i, std::vector<h::Value> &a) {
          if (auto index = indexOf(i, a[0]))
            return wrapped(tracer.devices->generatorOf(*index));
          return wrapped(tracer.generator);
        });
    // What a device's generator is at is two numbers, which any other may go on from.
    add("_are_same", "stream, other", [](h::Interpreter &i, std::vector<h::Value> &a) {
      const GeneratorStream &one = streamIn(i, a[0]), &other = streamIn(i, a[1]);
      return h::Value(one.onDevice ? other.onDevice != nullptr : one.stream == other.stream);
    });
    add("_draw_events", "probabilities, generator",
        [](h::Interpreter &i, std::vector<h::Value> &a) {
          return drawEvents(*a[0].as<TensorObject>(), i, a[1]);
        });
    add("_seed_devices", "seed", [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
      if (tracer.devices)
        tracer.devices->seedAll(seedOf(i, a[0]));
      return h::Value();
    });
    add("_seed", "stream, seed", [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
      refuseInProgram(tracer, i, "a seed of torch");
      const GeneratorStream &stream = streamIn(i, a[0]);
      if (stream.onDevice)
        *stream.onDevice = {seedOf(i, a[1]), 0, stream.onDevice->index};
      else
        stream.stream->seed(seedOf(i, a[1]));
      return h::Value();
    });
    add("_initial_seed", "stream", [](h::Interpreter &i, std::vector<h::Value> &a) {
      const GeneratorStream &stream = streamIn(i, a[0]);
      return h::Value(static_cast<h::Int>(stream.onDevice ? stream.onDevice->seed
                                                          : stream.stream->initialSeed()));
    });
    add("_offset", "stream, offset=None", [](h::Interpreter &i, std::vector<h::Value> &a) {
      const GeneratorStream &stream = streamIn(i, a[0]);
      if (!stream.onDevice)
        i.raise("RuntimeError", "Cannot call get_offset() or set_offset() of a CPU generator");
      if (!a[1].isNone())
        stream.onDevice->offset = static_cast<uint64_t>(i.toInt64(a[1], "an offset"));
      return h::Value(static_cast<h::Int>(stream.onDevice->offset));
    });
    add("_mark", "stream", [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
      refuseInProgram(tracer, i, "a generator's state");
      const GeneratorStream &stream = streamIn(i, a[0]);
      if (stream.onDevice)
        return h::Value::tuple({h::Value(static_cast<h::Int>(stream.onDevice->seed)),
                                h::Value(static_cast<h::Int>(stream.onDevice->offset))});
      return h::Value(static_cast<int64_t>(stream.stream->mark()));
    });
    add("_return_to", "stream, mark", [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
      refuseInProgram(tracer, i, "a generator's state");
      const GeneratorStream &stream = streamIn(i, a[0]);
      if (stream.onDevice) {
        const h::Tuple &state = a[1].tuple();
        *stream.onDevice = {static_cast<uint64_t>(state.at(0).integer()),
                            static_cast<uint64_t>(state.at(1).integer()), stream.onDevice->index};
        return h::Value();
      }
      stream.stream->returnTo(static_cast<size_t>(i.toInt64(a[1], "a state")));
      return h::Value();
    });
    // A device's is its seed and its offset, as PyTorch has them.
    add("_save", "stream", [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
      refuseInProgram(tracer, i, "a generator's state");
      const GeneratorStream &stream = streamIn(i, a[0]);
      std::string data;
      if (stream.onDevice) {
        uint64_t state[] = {stream.onDevice->seed, stream.onDevice->offset};
        data.assign(reinterpret_cast<const char *>(state), sizeof state);
      } else {
        auto bytes = stream.stream->save();
        data.assign(bytes.begin(), bytes.end());
      }
      return h::Value(std::make_shared<h::ByteString>(std::move(data)));
    });
    add("_restore", "stream, data", [&tracer](h::Interpreter &i, std::vector<h::Value> &a) {
      refuseInProgram(tracer, i, "a generator's state");
      const GeneratorStream &stream = streamIn(i, a[0]);
      const std::string &data = *a[1].as<h::ByteString>()->bytes;
      if (!stream.onDevice)
        return h::Value(
            stream.stream->restore({reinterpret_cast<const uint8_t *>(data.data()), data.size()}));
      uint64_t state[2];
      if (data.size() != sizeof state)
        return h::Value(false);
      std::memcpy(state, data.data(), sizeof state);
      *stream.onDevice = {state[0], state[1], stream.onDevice->index};
      return h::Value(true);
    });
    source->globals->set("default_generator",
                         interpreter.call(*source->globals->find("_begin"), h::CallArgs()));
    for (const auto &[name, value] : source->globals->items())
      module.globals->set(name, value);
  });
  auto names = [](h::Interpreter &interpreter, h::Module &module) {
    auto random = interpreter.nativeModule("torch._pellucid_random");
    for (const char *name : {"Generator", "manual_seed", "seed", "initial_seed", "get_rng_state",
                             "set_rng_state", "default_generator"})
      module.globals->set(name, *random->globals->find(name));
  };
  modules.add("torch", names);
  modules.add("torch.random", [names](h::Interpreter &interpreter, h::Module &module) {
    names(interpreter, module);
    module.globals->set(
        "fork_rng", *interpreter.nativeModule("torch._pellucid_random")->globals->find("fork_rng"));
  });
  // There is an operator of that name, too.
  modules.add("torch", [](h::Interpreter &interpreter, h::Module &module) {
    module.globals->set("random", h::Value(interpreter.nativeModule("torch.random")));
  });
  modules.add("torch.nn.init", [&tracer](h::Interpreter &i, h::Module &module) {
    auto source = i.importSource("torch_init_source",
                                 std::make_shared<SourceFile>("<torch.nn.init>", initSource));
    source->globals->set("_truncated_normal",
                         h::native("_truncated_normal", "tensor, mean, std, a, b, generator",
                                   [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                                     return truncatedNormal(tracer, inner, a);
                                   }));
    source->globals->set("_orthogonal",
                         h::native("_orthogonal", "tensor, gain, generator",
                                   [&tracer](h::Interpreter &inner, std::vector<h::Value> &a) {
                                     return orthogonalMatrix(tracer, inner, a);
                                   }));
    for (const auto &[name, value] : source->globals->items())
      if (!name.starts_with("__"))
        module.globals->set(name, value);
  });
}

} // namespace pellucid::trace
