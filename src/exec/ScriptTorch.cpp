// SPDX-License-Identifier: Apache-2.0
#include "exec/ScriptTorch.h"

#include "archive/Json.h"
#include "exec/ScriptDevices.h"
#include "exec/ScriptHooks.h"
#include "exec/ScriptInductor.h"
#include "host/InterpreterState.h"
#include "trace/PytorchNames.h"

#include <pellucid/runtime.h>

#include <algorithm>

namespace pellucid::exec {

namespace h = pellucid::host;
using Bound = std::vector<h::Value>;

namespace {

const char *const compileSource =
#include "exec/torch/compile.py.inc"
    ;
const char *const dynamoSource =
#include "exec/torch/dynamo.py.inc"
    ;
const char *const exportSource =
#include "exec/torch/export.py.inc"
    ;
const char *const inductorSource =
#include "exec/torch/inductor.py.inc"
    ;
const char *const profilerSource =
#include "exec/torch/profiler.py.inc"
    ;
const char *const testingSource =
#include "exec/torch/testing.py.inc"
    ;
const char *const tritonTestingSource =
#include "exec/torch/triton_testing.py.inc"
    ;
const char *const numpySource =
#include "exec/torch/numpy.py.inc"
#include "exec/torch/numpy_arrays.py.inc"
#include "exec/torch/numpy_files.py.inc"
#include "exec/torch/numpy_functions.py.inc"
#include "exec/torch/numpy_random.py.inc"
    ;
const char *const pytestSource =
#include "exec/torch/pytest.py.inc"
    ;
const char *const tensorboardSource =
#include "exec/torch/tensorboard.py.inc"
    ;
const char *const settingsSource =
#include "exec/torch/settings.py.inc"
    ;
const char *const tabulateSource =
#include "exec/torch/tabulate.py.inc"
    ;
const char *const proxyTensorSource =
#include "exec/torch/proxy_tensor.py.inc"
    ;
const char *const driverSource =
#include "exec/torch/triton_driver.py.inc"
    ;
const char *const distributedSource =
#include "exec/torch/distributed.py.inc"
    ;
const char *const protonSource =
#include "exec/torch/proton.py.inc"
    ;
const char *const protonViewerSource =
#include "exec/torch/proton_viewer.py.inc"
    ;
const char *const libtritonSource =
#include "exec/torch/libtriton.py.inc"
    ;
const char *const cudaSource =
#include "exec/torch/cuda.py.inc"
    ;

/// What is recorded of packages between two points of a script.
class ProfileObject : public h::Object {
public:
  ProfileObject() {
    if (pellucid_profile_create(&profile) != PELLUCID_OK)
      throw std::bad_alloc();
    scope = std::make_unique<eager::ProfileScope>(profile);
  }
  ~ProfileObject() override { pellucid_profile_destroy(profile); }
  std::string typeName() const override { return "profile"; }
  void end() { scope.reset(); }

  pellucid_profile *profile = nullptr;

private:
  std::unique_ptr<eager::ProfileScope> scope;
};

/// The names of a text become a module's; it is read when the module is first asked for.
h::NativeModules::Fill fillFrom(const char *source) {
  return [source](h::Interpreter &interpreter, h::Module &m) {
    auto written =
        interpreter.importSource(m.name, std::make_shared<SourceFile>("<" + m.name + ">", source));
    for (const auto &[name, value] : written->globals->items())
      if (!name.starts_with("_"))
        m.globals->set(name, value);
  };
}

h::Value nameIn(h::Interpreter &interpreter, const char *module, const char *name) {
  return interpreter.getAttr(h::Value(interpreter.nativeModule(module)), name);
}

/// A function of another module under the same name, read when it is first called.
h::Value later(const char *module, const char *name) {
  return h::nativeRaw(name, [module, name](h::Interpreter &i, h::CallArgs args) {
    return i.call(nameIn(i, module, name), std::move(args));
  });
}

/// What a script assigns to torch.backends…'s allow_tf32 and fp32_precision is a setting of `kind`.
auto settingOf(const char *kind) {
  return [kind](h::Interpreter &i, std::string_view name, const h::Value &value) {
    if (name == "allow_tf32" || name == "fp32_precision")
      i.call(nameIn(i, "torch._settings", "assigned_tf32"),
             {h::Value(kind), h::Value(std::string(name)), value});
  };
}

void addNatives(h::NativeModules &modules, ScriptHooks &hooks) {
  modules.add("_script_torch", [&hooks](h::Interpreter &, h::Module &m) {
    auto add = [&](const char *name, const char *signature, h::NativeFunction::Body body) {
      m.globals->set(name, h::native(name, signature, std::move(body)));
    };
    add("reset", "", [&hooks](h::Interpreter &, Bound &) {
      hooks.reset();
      return h::Value();
    });
    add("flush", "", [&hooks](h::Interpreter &, Bound &) {
      if (hooks.tensors().recorder().isRecording())
        hooks.tensors().recorder().flush();
      return h::Value();
    });
    // Programs that were compiled were made under the setting before.
    add("truncate", "products, convolutions", [&hooks](h::Interpreter &i, Bound &a) {
      eager::Session::Truncated what{i.truth(a[0]), i.truth(a[1])};
      if (what == hooks.tensors().truncated())
        return h::Value();
      hooks.tensors().truncate(what);
      hooks.reset();
      return h::Value();
    });
    add("set_silently", "module, name, value", [](h::Interpreter &i, Bound &a) {
      a[0].expect<h::Module>("a module").globals->set(i.toStr(a[1], "name"), a[2]);
      return h::Value();
    });
    add("is_tracing", "", [&hooks](h::Interpreter &, Bound &) {
      return h::Value(!hooks.tensors().recorder().isRecording());
    });
    add("has_cuda", "", [&hooks](h::Interpreter &, Bound &) {
      return h::Value(hooks.tensors().devices().count() > 0);
    });
    addDevices(m, hooks);
    add("begin_profile", "", [&hooks](h::Interpreter &, Bound &) {
      hooks.regions.emplace();
      return h::Value(std::make_shared<ProfileObject>());
    });
    add("compute_all", "yes", [&hooks](h::Interpreter &i, Bound &a) {
      hooks.tensors().recorder().computesAll = i.truth(a[0]);
      return h::Value();
    });
    add("observe_launches", "observer", [&hooks](h::Interpreter &, Bound &a) {
      hooks.launchObserver = a[0];
      return h::Value();
    });
    add("end_regions", "", [&hooks](h::Interpreter &, Bound &) {
      h::List rows;
      for (const ScriptHooks::Region &region :
           hooks.regions.value_or(std::vector<ScriptHooks::Region>()))
        rows.push_back(h::Value::tuple(
            {h::Value(region.name), h::Value(region.begin), h::Value(region.microseconds)}));
      hooks.regions.reset();
      return h::Value::list(std::move(rows));
    });
    // Name, begin and duration in microseconds of every kernel, in order.
    add("profiled_kernels", "profile", [](h::Interpreter &, Bound &a) {
      auto &profile = a[0].expect<ProfileObject>("a profile");
      profile.end();
      archive::JsonDocument document;
      h::List rows;
      if (!document.read(pellucid_profile_json(profile.profile)).ok())
        throw std::logic_error("the run time's profile is not JSON");
      archive::JsonValue events = document.root().member("traceEvents");
      for (size_t i = 0; i < events.size(); ++i) {
        archive::JsonValue event = events.at(i);
        if (event.member("cat").string() == "kernel")
          rows.push_back(h::Value::tuple({h::Value(std::string(event.member("name").string())),
                                          h::Value(event.member("ts").number()),
                                          h::Value(event.member("dur").number())}));
      }
      return h::Value::list(std::move(rows));
    });
    add("end_profile", "profile", [](h::Interpreter &i, Bound &a) {
      auto &profile = a[0].expect<ProfileObject>("a profile");
      profile.end();
      h::Value whole =
          i.call(nameIn(i, "json", "loads"), {h::Value(pellucid_profile_json(profile.profile))});
      return i.getItem(whole, h::Value("traceEvents"));
    });
  });
}

} // namespace

/// A name that PyTorch's module has not is an AttributeError, as there; what it has and we lack is
/// refused by name where it is used.
static void leaveOutUnknownNames(h::NativeModules &modules) {
  for (const std::string &name : trace::listedModules()) {
    if (!modules.find(name))
      continue;
    modules.add(name, [name](h::Interpreter &, h::Module &m) {
      auto next = m.fallback;
      m.fallback = [next, name](h::Interpreter &i,
                                std::string_view attribute) -> std::optional<h::Value> {
        auto found = next ? next(i, attribute) : std::nullopt;
        bool isLacking = found && found->as<h::Opaque>();
        return isLacking && !trace::isPytorchName(name, attribute) ? std::nullopt : found;
      };
    });
  }
}

void addScriptTorch(h::NativeModules &modules, ScriptHooks &hooks) {
  addNatives(modules, hooks);
  modules.add("torch._compile", fillFrom(compileSource));
  modules.add("torch._dynamo", fillFrom(dynamoSource));
  modules.add("torch._dynamo.exc", [](h::Interpreter &i, h::Module &m) {
    auto written = nameIn(i, "torch._dynamo", "Unsupported");
    for (const char *name : {"TorchDynamoException", "Unsupported", "InvalidBackend",
                             "FailOnRecompileLimitHit", "UserError", "ConstraintViolationError"})
      m.globals->set(name, nameIn(i, "torch._dynamo", name));
  });
  modules.add("torch._inductor", fillFrom(inductorSource));
  modules.add("torch._inductor", [](h::Interpreter &i, h::Module &m) {
    m.globals->set("config", nameIn(i, "torch._dynamo", "inductor_config"));
  });
  addScriptInductor(modules);
  modules.add("torch.compiler", [](h::Interpreter &, h::Module &m) {
    for (const char *name : {"reset", "is_compiling", "disable", "allow_in_graph", "list_backends"})
      m.globals->set(name, later("torch._dynamo", name));
    m.globals->set("is_dynamo_compiling", later("torch._dynamo", "is_compiling"));
    m.globals->set("is_exporting", later("torch._dynamo", "is_compiling"));
    m.globals->set("compile", later("torch._compile", "compile"));
  });
  modules.add("torch.export", fillFrom(exportSource));
  modules.add("torch.profiler", fillFrom(profilerSource));
  modules.add("torch.autograd.profiler", [](h::Interpreter &i, h::Module &m) {
    for (const char *name : {"record_function", "profile"})
      m.globals->set(name, nameIn(i, "torch.profiler", name));
  });
  modules.add("torch.testing", fillFrom(testingSource));
  modules.add("triton.testing", fillFrom(tritonTestingSource));
  modules.add("numpy", [](h::Interpreter &i, h::Module &m) {
    auto source = std::make_shared<SourceFile>("<numpy>", std::string(numpySource));
    for (const auto &[name, value] : i.importSource("numpy", source)->globals->items())
      if (!name.starts_with("__") || name == "__version__")
        m.globals->set(name, value);
    m.globals->set("random", h::Value(i.nativeModule("numpy.random")));
  });
  // Its functions are the methods of one state.
  modules.add("numpy.random", [](h::Interpreter &i, h::Module &m) {
    h::Value cls = nameIn(i, "numpy", "RandomState");
    h::Value state = i.call(cls);
    m.globals->set("RandomState", cls);
    for (const char *name : {"seed", "rand", "randn", "random", "random_sample", "ranf", "sample",
                             "standard_normal", "normal", "uniform", "randint", "shuffle",
                             "permutation", "choice", "get_state", "set_state"})
      m.globals->set(name, i.getAttr(state, name));
  });
  for (const char *name : {"testing", "linalg"})
    modules.add("numpy." + std::string(name), [name](h::Interpreter &i, h::Module &m) {
      h::Value holder = nameIn(i, "numpy", name);
      for (const char *function : {"assert_allclose", "assert_array_equal", "assert_equal",
                                   "assert_almost_equal", "assert_array_almost_equal", "norm"})
        if (auto found = i.findAttr(holder, function))
          m.globals->set(function, *found);
    });
  modules.add("pytest", fillFrom(pytestSource));
  modules.add("torch.utils.tensorboard", fillFrom(tensorboardSource));
  modules.add("torch._settings", fillFrom(settingsSource));
  modules.add("torch", [](h::Interpreter &, h::Module &m) {
    for (const char *name :
         {"use_deterministic_algorithms", "are_deterministic_algorithms_enabled",
          "is_deterministic_algorithms_warn_only_enabled", "set_float32_matmul_precision",
          "get_float32_matmul_precision", "get_num_threads", "set_num_threads",
          "set_num_interop_threads", "get_num_interop_threads", "set_default_device",
          "get_default_device", "set_default_dtype", "set_default_tensor_type"})
      m.globals->set(name, later("torch._settings", name));
  });
  // torch.randn(size=(2, 3)): the sizes by their name.
  modules.add("torch", [](h::Interpreter &, h::Module &m) {
    for (const char *name : {"randn", "rand", "zeros", "ones", "empty"}) {
      const h::Value *found = m.globals->find(name);
      auto *own = found ? found->as<h::NativeFunction>() : nullptr;
      if (!own)
        continue;
      m.globals->set(name,
                     h::nativeRaw(own->name, [inner = *found](h::Interpreter &i, h::CallArgs args) {
                       auto size = std::find_if(args.keywords.begin(), args.keywords.end(),
                                                [](const auto &k) { return k.first == "size"; });
                       if (size != args.keywords.end() && args.positional.empty()) {
                         args.positional.push_back(size->second);
                         args.keywords.erase(size);
                       }
                       return i.call(inner, std::move(args));
                     }));
    }
  });
  modules.add("torch.backends.cudnn", [](h::Interpreter &, h::Module &m) {
    m.globals->set("enabled", h::Value(true));
    for (const char *name : {"deterministic", "benchmark", "allow_tf32"})
      m.globals->set(name, h::Value(false));
    m.globals->set("fp32_precision", h::Value("ieee"));
    m.assigned = settingOf("convolutions");
    m.globals->set("is_available", h::native("is_available", "", [](h::Interpreter &, Bound &) {
                     return h::Value(false);
                   }));
  });
  modules.add("torch.backends.cuda.matmul", [](h::Interpreter &, h::Module &m) {
    for (const char *name : {"allow_tf32", "allow_fp16_reduced_precision_reduction",
                             "allow_bf16_reduced_precision_reduction"})
      m.globals->set(name, h::Value(false));
    m.globals->set("fp32_precision", h::Value("ieee"));
    m.assigned = settingOf("products");
  });
  modules.add("torch.fx.experimental.proxy_tensor", fillFrom(proxyTensorSource));
  modules.add("tabulate", fillFrom(tabulateSource));
  modules.add("torch.distributed", fillFrom(distributedSource));
  modules.add("triton.profiler", fillFrom(protonSource));
  modules.add("triton.profiler.viewer", fillFrom(protonViewerSource));
  modules.add("triton._C.libtriton", fillFrom(libtritonSource));
  modules.add("triton._script_driver", fillFrom(driverSource));
  for (const char *name : {"triton.runtime", "triton.runtime.driver"})
    modules.add(name, [](h::Interpreter &i, h::Module &m) {
      m.globals->set("driver", nameIn(i, "triton._script_driver", "driver"));
    });
  modules.add("torch.utils._triton", [&hooks](h::Interpreter &, h::Module &m) {
    for (const char *name : {"has_triton", "has_triton_package"})
      m.globals->set(name, h::native(name, "", [&hooks](h::Interpreter &, Bound &) {
                       return h::Value(hooks.tensors().devices().count() > 0);
                     }));
  });
  // Files that are traced are told of an assumed device; a script of those that it has.
  modules.add("torch._pellucid_runtime", [&hooks](h::Interpreter &, h::Module &m) {
    auto *asked = m.globals->find("_has_cuda")->as<h::Function>();
    asked->globals->set("_set_default_device", later("torch._settings", "swap_default_device"));
    asked->globals->set("_has_cuda",
                        h::native("_has_cuda", "", [&hooks](h::Interpreter &, Bound &) {
                          return h::Value(hooks.tensors().devices().count() > 0);
                        }));
  });
  modules.add("torch.cuda", [](h::Interpreter &i, h::Module &m) {
    fillFrom(cudaSource)(i, m);
    m.globals->set("_DeviceGuard", *m.globals->find("DeviceGuardOfIndex"));
    m.globals->erase("DeviceGuardOfIndex");
    m.globals->set("OutOfMemoryError", nameIn(i, "torch._pellucid_eager", "OutOfMemoryError"));
  });
  modules.add("torch", [](h::Interpreter &i, h::Module &m) {
    m.globals->set("compile", later("torch._compile", "compile"));
    for (const char *name : {"cuda", "export", "profiler", "testing", "compiler"})
      m.globals->erase(name);
    auto next = m.fallback;
    m.fallback = [next](h::Interpreter &in, std::string_view name) -> std::optional<h::Value> {
      static const std::set<std::string_view> own = {"cuda",    "export",    "profiler", "testing",
                                                     "_dynamo", "_inductor", "compiler"};
      if (name == "OutOfMemoryError")
        return nameIn(in, "torch.cuda", "OutOfMemoryError");
      if (own.count(name))
        return h::Value(in.nativeModule("torch." + std::string(name)));
      if (name == "OutOfMemoryError")
        return nameIn(in, "torch._pellucid_eager", "OutOfMemoryError");
      return next ? next(in, name) : std::nullopt;
    };
    (void)i;
  });
  leaveOutUnknownNames(modules);
}

} // namespace pellucid::exec
