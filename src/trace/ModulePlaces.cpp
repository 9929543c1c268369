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

struct ModulePlace {
  const char *file, *names;
};

/// Below torch.nn.
constexpr ModulePlace places[] = {
    {"modules.pooling",
     "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
     "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d "
     "FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d LPPool3d MaxPool1d "
     "MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d"},
    {"modules.adaptive", "AdaptiveLogSoftmaxWithLoss"},
    {"modules.dropout", "AlphaDropout Dropout Dropout1d Dropout2d Dropout3d FeatureAlphaDropout"},
    {"modules.loss", "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss "
                     "GaussianNLLLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss "
                     "LinearCrossEntropyLoss MSELoss MarginRankingLoss MultiLabelMarginLoss "
                     "MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss "
                     "SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss"},
    {"modules.batchnorm", "BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d "
                          "LazyBatchNorm3d SyncBatchNorm"},
    {"modules.linear", "Bilinear Identity LazyLinear Linear"},
    {"parameter", "Buffer Parameter UninitializedBuffer UninitializedParameter"},
    {"modules.activation",
     "CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU "
     "LogSigmoid LogSoftmax Mish MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU "
     "Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink "
     "Threshold"},
    {"modules.channelshuffle", "ChannelShuffle"},
    {"modules.padding",
     "CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d "
     "ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d "
     "ReplicationPad2d ReplicationPad3d ZeroPad1d ZeroPad2d ZeroPad3d"},
    {"modules.container", "Container ModuleDict ModuleList ParameterDict ParameterList Sequential"},
    {"modules.conv", "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
                     "LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d "
                     "LazyConvTranspose3d"},
    {"modules.distance", "CosineSimilarity PairwiseDistance"},
    {"modules.normalization", "CrossMapLRN2d GroupNorm LayerNorm LocalResponseNorm RMSNorm"},
    {"parallel.data_parallel", "DataParallel"},
    {"modules.sparse", "Embedding EmbeddingBag"},
    {"modules.flatten", "Flatten Unflatten"},
    {"modules.fold", "Fold Unfold"},
    {"modules.rnn", "GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase"},
    {"modules.instancenorm", "InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d "
                             "LazyInstanceNorm2d LazyInstanceNorm3d"},
    {"modules.linear_cross_entropy_options", "LinearCrossEntropyOptions"},
    {"modules.module", "Module"},
    {"modules.pixelshuffle", "PixelShuffle PixelUnshuffle"},
    {"modules.transformer",
     "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder "
     "TransformerEncoderLayer"},
    {"modules.upsampling", "Upsample UpsamplingBilinear2d UpsamplingNearest2d"}};

const std::map<std::string, std::string, std::less<>> &byName() {
  static const std::map<std::string, std::string, std::less<>> all = [] {
    std::map<std::string, std::string, std::less<>> out;
    for (const ModulePlace &place : places) {
      std::istringstream words(place.names);
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
    for (const Place &place : places())
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
  for (const Place &place : places())
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
