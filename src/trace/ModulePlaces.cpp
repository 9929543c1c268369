// SPDX-License-Identifier: Apache-2.0
// In which of PyTorch's files a class is, as its text and __module__ say it.
#include "trace/TorchSources.h"

#include "host/Objects.h"

#include <map>
#include <sstream>

namespace pellucid::trace {

namespace h = pellucid::host;

namespace {

struct Place {
  const char *file, *names;
};

/// Below torch.nn.
constexpr Place places[] = {
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
    for (const Place &place : places) {
      std::istringstream words(place.names);
      for (std::string name; words >> name;)
        out.emplace(std::move(name), std::string("torch.nn.") + place.file);
    }
    return out;
  }();
  return all;
}

std::string lowered(std::string text) {
  for (char &c : text)
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

std::string placeOf(const std::string &module, const std::string &name) {
  if (module == "torch.nn") {
    auto known = byName().find(name);
    return known == byName().end() ? module : known->second;
  }
  if (module == "torch.optim" && name != "Adafactor" && name != "Muon")
    return module + "." + lowered(name);
  if (module == "torch.utils.data") {
    if (name == "DataLoader")
      return module + ".dataloader";
    return module + (name.ends_with("Sampler") ? ".sampler" : ".dataset");
  }
  return module;
}

} // namespace

void nameClasses(h::Module &module) {
  for (const auto &[name, value] : module.globals->items())
    if (auto *cls = value.as<h::Class>(); cls && cls->module.empty() && cls->name == name)
      cls->module = placeOf(module.name, name);
}

} // namespace pellucid::trace
