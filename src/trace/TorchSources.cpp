// SPDX-License-Identifier: Apache-2.0
#include "trace/TorchSources.h"

namespace pellucid::trace {

const char *const compositeSource =
#include "trace/torch/composites.py.inc"
    ;
const char *const shapeSource =
#include "trace/torch/shapes.py.inc"
    ;
const char *const lossSource =
#include "trace/torch/losses.py.inc"
    ;
// One text: each file by its subject, after the one that they all record with.
const char *const atenSource =
#include "trace/torch/aten.py.inc"
#include "trace/torch/aten_bits.py.inc"
#include "trace/torch/aten_complex.py.inc"
#include "trace/torch/aten_draws.py.inc"
#include "trace/torch/aten_elements.py.inc"
#include "trace/torch/aten_gradients.py.inc"
#include "trace/torch/aten_groups.py.inc"
#include "trace/torch/aten_images.py.inc"
#include "trace/torch/aten_lookups.py.inc"
#include "trace/torch/aten_losses.py.inc"
#include "trace/torch/aten_matrices.py.inc"
#include "trace/torch/aten_norms.py.inc"
#include "trace/torch/aten_numbers.py.inc"
#include "trace/torch/aten_pools.py.inc"
#include "trace/torch/aten_products.py.inc"
#include "trace/torch/aten_quantized.py.inc"
#include "trace/torch/aten_recurrent.py.inc"
#include "trace/torch/aten_reductions.py.inc"
#include "trace/torch/aten_resampling.py.inc"
#include "trace/torch/aten_scatters.py.inc"
#include "trace/torch/aten_shapes.py.inc"
#include "trace/torch/aten_special.py.inc"
#include "trace/torch/aten_spectra.py.inc"
#include "trace/torch/aten_values.py.inc"
#include "trace/torch/aten_windows.py.inc"
    ;
const char *const functionalSource =
#include "trace/torch/functional.py.inc"
    ;
const char *const hookSource =
#include "trace/torch/hooks.py.inc"
    ;
const char *const moduleNameSource =
#include "trace/torch/module_names.py.inc"
    ;
const char *const moduleTextSource =
#include "trace/torch/module_text.py.inc"
    ;
const char *const lossModuleSource =
#include "trace/torch/nn_losses.py.inc"
    ;
const char *const layerSource =
#include "trace/torch/nn_layers.py.inc"
    ;
const char *const recurrentSource =
#include "trace/torch/nn_recurrent.py.inc"
    ;
const char *const transformerSource =
#include "trace/torch/nn_transformer.py.inc"
    ;
const char *const networkSource =
#include "trace/torch/nn.py.inc"
#include "trace/torch/nn_basic.py.inc"
#include "trace/torch/nn_containers.py.inc"
#include "trace/torch/nn_convolutions.py.inc"
#include "trace/torch/nn_tuples.py.inc"
    ;
const char *const activationSource =
#include "trace/torch/nn_activations.py.inc"
    ;
const char *const poolSource =
#include "trace/torch/nn_pools.py.inc"
    ;
const char *const initSource =
#include "trace/torch/init.py.inc"
    ;
const char *const randomSource =
#include "trace/torch/random.py.inc"
    ;
const char *const backendSource =
#include "trace/torch/backends.py.inc"
    ;
const char *const runtimeSource =
#include "trace/torch/runtime.py.inc"
    ;
const char *const autogradSource =
#include "trace/torch/autograd.py.inc"
    ;
const char *const derivativeSource =
#include "trace/torch/derivatives.py.inc"
    ;
const char *const derivativeSourceOfMoves =
#include "trace/torch/derivatives_moves.py.inc"
    ;
const char *const eagerSource =
#include "trace/torch/eager.py.inc"
    ;
const char *const fftSource =
#include "trace/torch/fft.py.inc"
    ;
const char *const linalgSource =
#include "trace/torch/linalg.py.inc"
    ;
const char *const linalgProductSource =
#include "trace/torch/linalg_products.py.inc"
    ;
const char *const maskedSource =
#include "trace/torch/masked.py.inc"
    ;
const char *const controlSource =
#include "trace/torch/control.py.inc"
    ;
const char *const optimSource =
#include "trace/torch/optim.py.inc"
    ;
const char *const moreOptimSource =
#include "trace/torch/optim_more.py.inc"
    ;
const char *const transformSource =
#include "trace/torch/transforms.py.inc"
    ;
const char *const schedulerSource =
#include "trace/torch/schedulers.py.inc"
    ;
const char *const ampSource =
#include "trace/torch/amp.py.inc"
    ;
const char *const flopSource =
#include "trace/torch/flops.py.inc"
    ;
const char *const operatorSource =
#include "trace/torch/operators.py.inc"
    ;
const char *const dispatchSource =
#include "trace/torch/dispatch.py.inc"
    ;
const char *const dataSource =
#include "trace/torch/data.py.inc"
    ;
const char *const trainingSource =
#include "trace/torch/training.py.inc"
    ;
const char *const convolutionGradientSource =
#include "trace/torch/nn_grad.py.inc"
    ;
const char *const utilitySource =
#include "trace/torch/nn_utils.py.inc"
    ;
const char *const sequenceSource =
#include "trace/torch/nn_sequences.py.inc"
    ;
const char *const distributionSource =
#include "trace/torch/distributions.py.inc"
    ;
const char *const moreDistributionSource =
#include "trace/torch/distributions_more.py.inc"
    ;
const char *const distributionTransformSource =
#include "trace/torch/distribution_transforms.py.inc"
    ;
const char *const distributionRatioSource =
#include "trace/torch/distribution_ratios.py.inc"
    ;
const char *const divergenceSource =
#include "trace/torch/distribution_kl.py.inc"
    ;
const char *const supportSource =
#include "trace/torch/distribution_supports.py.inc"
    ;
const char *const parametrizeSource =
#include "trace/torch/nn_parametrize.py.inc"
    ;
const char *const pruneSource =
#include "trace/torch/nn_prune.py.inc"
    ;
const char *const foreachSource =
#include "trace/torch/foreach.py.inc"
    ;
const char *const functionNameSource =
#include "trace/torch/function_names.py.inc"
    ;
const char *const treeSource =
#include "trace/torch/pytree.py.inc"
    ;
const char *const averageSource =
#include "trace/torch/swa_utils.py.inc"
    ;

} // namespace pellucid::trace
