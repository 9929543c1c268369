// SPDX-License-Identifier: Apache-2.0
// In which of PyTorch's files a class is: its text and __module__ say it, and imports name it.
#include "trace/ModulePlaces.h"

#include "host/Objects.h"

#include <map>
#include <sstream>
#include <vector>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

/// Written by scripts/record_torch_places.py.
const char *const recordedPlaces =
#include "trace/torch/places.txt.inc"
    ;

struct ModulePlace {
  std::string file, package;
  std::vector<std::string> names;
};

const std::vector<ModulePlace> &places() {
  static const std::vector<ModulePlace> all = [] {
    std::vector<ModulePlace> out;
    std::istringstream text(recordedPlaces);
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("#"))
        continue;
      std::istringstream words(line);
      ModulePlace &place = out.emplace_back();
      words >> place.file >> place.package;
      place.package.pop_back(); // the colon
      for (std::string name; words >> name;)
        place.names.push_back(std::move(name));
    }
    return out;
  }();
  return all;
}

/// The file of each package's names.
const std::map<std::string, std::map<std::string, std::string>> &byPackage() {
  static const std::map<std::string, std::map<std::string, std::string>> all = [] {
    std::map<std::string, std::map<std::string, std::string>> out;
    for (const ModulePlace &place : places())
      for (const std::string &name : place.names)
        out[place.package].emplace(name, place.file);
    return out;
  }();
  return all;
}

} // namespace

void nameClasses(h::Module &module) {
  auto files = byPackage().find(module.name);
  for (const auto &[name, value] : module.globals->items())
    if (auto *cls = value.as<h::Class>(); cls && cls->module.empty() && cls->name == name) {
      bool known = files != byPackage().end() && files->second.count(name);
      cls->module = known ? files->second.at(name) : module.name;
    }
}

void addModulePlaces(h::NativeModules &modules) {
  for (const ModulePlace &place : places())
    modules.add(place.file, [&place](h::Interpreter &interpreter, h::Module &module) {
      auto package = interpreter.nativeModule(place.package);
      if (!package)
        return;
      for (const std::string &name : place.names)
        if (!module.globals->find(name))
          if (auto value = interpreter.findAttr(h::Value(package), name))
            module.globals->set(name, *value);
    });
  modules.add("torch.nn.modules", [](h::Interpreter &interpreter, h::Module &module) {
    for (const auto &[name, value] : interpreter.nativeModule("torch.nn")->globals->items())
      if (!name.starts_with("_"))
        module.globals->set(name, value);
  });
  modules.add("torch.nn.modules.utils", [](h::Interpreter &interpreter, h::Module &module) {
    auto nn = interpreter.nativeModule("torch.nn");
    for (const char *name : {"_ntuple", "_single", "_pair", "_triple", "_quadruple",
                             "_reverse_repeat_tuple", "_list_with_default"})
      module.globals->set(name, *nn->globals->find(name));
  });
}

} // namespace pellucid::trace
