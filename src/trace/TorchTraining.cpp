// SPDX-License-Identifier: Apache-2.0
// torch.optim, its schedulers, torch.nn.utils: written in the language that models are written in.
#include "trace/TorchTraining.h"

#include "trace/EagerRecorder.h"
#include "trace/ModulePlaces.h"
#include "trace/TensorFiles.h"
#include "trace/TensorObject.h"
#include "trace/TorchSources.h"

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

/// The names of a source that are `module`'s: those without an underscore in front.
std::shared_ptr<h::Module> fillFromSource(h::Interpreter &interpreter, h::Module &module,
                                          const std::string &source, const std::string &text) {
  auto made = interpreter.importSource(
      "torch_" + source + "_source", std::make_shared<SourceFile>("<torch." + source + ">", text));
  for (const auto &[name, value] : made->globals->items())
    if (!name.starts_with("_") && !value.as<h::Module>())
      module.globals->set(name, value);
  nameClasses(module);
  return made;
}

/// torch.optim.adam has Adam, and so has torch.optim.
void addOptimizerFile(h::NativeModules &modules, const std::string &file, const char *name) {
  modules.add("torch.optim." + file, [name](h::Interpreter &interpreter, h::Module &module) {
    auto all = interpreter.nativeModule("torch.optim");
    for (const char *one : {name, "Optimizer"})
      module.globals->set(one, *all->globals->find(one));
  });
}

/// A file of a package has the package's names.
void addPart(h::NativeModules &modules, const std::string &package, const std::string &part) {
  modules.add(package + "." + part, [package](h::Interpreter &interpreter, h::Module &module) {
    for (const auto &[name, value] : interpreter.nativeModule(package)->globals->items())
      module.globals->set(name, value);
  });
}

} // namespace

void addTorchTraining(h::NativeModules &modules, Tracer &tracer) {
  addTrainingState(modules, tracer);
  addTorchFiles(modules, tracer);
  addTensorBytes(modules, tracer);
  modules.add("torch.optim", [&tracer](h::Interpreter &interpreter, h::Module &module) {
    auto source =
        fillFromSource(interpreter, module, "optim", std::string(optimSource) + moreOptimSource);
    // A script's segments end where its steps do.
    source->globals->set(
        "_flush", h::native("_flush", "", [&tracer](h::Interpreter &, std::vector<h::Value> &) {
          if (tracer.recorder && tracer.recorder->isRecording())
            tracer.recorder->flush();
          return h::Value();
        }));
  });
  modules.add("torch.optim.lr_scheduler", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = fillFromSource(interpreter, module, "optim.lr_scheduler", schedulerSource);
    module.globals->set("_LRScheduler", *source->globals->find("LRScheduler"));
  });
  for (auto [file, name] : {std::pair{"optimizer", "required"},
                            {"sgd", "SGD"},
                            {"adam", "Adam"},
                            {"adamw", "AdamW"},
                            {"rmsprop", "RMSprop"},
                            {"adagrad", "Adagrad"},
                            {"adadelta", "Adadelta"},
                            {"adamax", "Adamax"},
                            {"nadam", "NAdam"},
                            {"radam", "RAdam"},
                            {"asgd", "ASGD"},
                            {"rprop", "Rprop"},
                            {"lbfgs", "LBFGS"},
                            {"_adafactor", "Adafactor"},
                            {"_muon", "Muon"}})
    addOptimizerFile(modules, file, name);
  modules.add("torch.utils.data", [](h::Interpreter &interpreter, h::Module &module) {
    fillFromSource(interpreter, module, "utils.data", dataSource);
  });
  for (const char *part : {"dataset", "dataloader", "sampler"})
    addPart(modules, "torch.utils.data", part);
  modules.add("torch.nn.utils", [](h::Interpreter &interpreter, h::Module &module) {
    fillFromSource(interpreter, module, "nn.utils", utilitySource);
    auto parametrize = interpreter.nativeModule("torch.nn.utils.parametrize");
    for (const char *name :
         {"weight_norm", "remove_weight_norm", "spectral_norm", "remove_spectral_norm"})
      module.globals->set(name, *parametrize->globals->find(name));
  });
  modules.add("torch.nn.utils.parametrize", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = fillFromSource(interpreter, module, "nn.utils.parametrize", parametrizeSource);
    for (const char *name : {"_weight_norm", "_spectral_norm", "_orthogonal"})
      module.globals->set(name, *source->globals->find(name));
  });
  modules.add("torch.nn.utils.parametrizations",
              [](h::Interpreter &interpreter, h::Module &module) {
                auto parametrize = interpreter.nativeModule("torch.nn.utils.parametrize");
                for (const char *name : {"weight_norm", "spectral_norm", "orthogonal"})
                  module.globals->set(name, *parametrize->globals->find("_" + std::string(name)));
              });
  modules.add("torch.nn.utils.prune", [](h::Interpreter &interpreter, h::Module &module) {
    fillFromSource(interpreter, module, "nn.utils.prune", pruneSource);
  });
  modules.add("torch.utils._pytree", [](h::Interpreter &interpreter, h::Module &module) {
    auto source = fillFromSource(interpreter, module, "utils._pytree", treeSource);
    module.globals->set("_register_pytree_node", *source->globals->find("_register_pytree_node"));
  });
  modules.add("torch.nn.grad", [](h::Interpreter &interpreter, h::Module &module) {
    fillFromSource(interpreter, module, "nn.grad", convolutionGradientSource);
  });
  modules.add("torch.nn.utils.rnn", [](h::Interpreter &interpreter, h::Module &module) {
    fillFromSource(interpreter, module, "nn.utils.rnn", sequenceSource);
  });
  modules.add("torch.distributions", [](h::Interpreter &interpreter, h::Module &module) {
    fillFromSource(interpreter, module, "distributions",
                   std::string(distributionSource) + moreDistributionSource +
                       distributionTransformSource + distributionRatioSource + divergenceSource +
                       supportSource);
  });
  for (const char *part : {"transforms",
                           "distribution",
                           "kl",
                           "normal",
                           "categorical",
                           "bernoulli",
                           "independent",
                           "multivariate_normal",
                           "transformed_distribution",
                           "uniform",
                           "gamma",
                           "beta",
                           "dirichlet",
                           "exponential",
                           "laplace",
                           "mixture_same_family",
                           "relaxed_bernoulli",
                           "relaxed_categorical",
                           "one_hot_categorical",
                           "poisson",
                           "utils"})
    addPart(modules, "torch.distributions", part);
  modules.add("torch.distributions.constraints",
              [](h::Interpreter &interpreter, h::Module &module) {
                h::Value all = interpreter.getAttr(
                    h::Value(interpreter.nativeModule("torch.distributions")), "constraints");
                for (const auto &[name, value] : all.as<h::Class>()->attributes.items()) {
                  auto *descriptor = value.as<h::Descriptor>();
                  if (!name.starts_with("__"))
                    module.globals->set(name, descriptor ? descriptor->function : value);
                }
              });
  modules.add("torch.optim.swa_utils", [](h::Interpreter &interpreter, h::Module &module) {
    fillFromSource(interpreter, module, "optim.swa_utils", averageSource);
  });
  for (const char *part : {"clip_grad", "convert_parameters"})
    addPart(modules, "torch.nn.utils", part);
  addModulePlaces(modules);
}

} // namespace pellucid::trace
