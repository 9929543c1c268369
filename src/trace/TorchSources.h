// SPDX-License-Identifier: Apache-2.0
/// Parts of torch in the language that models are written in; the host evaluator runs them. Their
/// texts are the files of trace/torch, embedded by the build.
#pragma once

namespace pellucid::trace {

extern const char *const
    compositeSource; ///< functions that are written with torch's other operators
extern const char *const
    shapeSource; ///< functions that move elements; part of the composites' module
extern const char *const
    lossSource; ///< the losses of torch.nn.functional; part of the composites' module
extern const char *const atenSource;       ///< operators of ATen that are written with others
extern const char *const functionalSource; ///< functions of torch.nn.functional's own order
extern const char *const hookSource;       ///< what modules have of hooks; before networkSource
extern const char *const
    moduleNameSource; ///< what modules find by dotted names; before networkSource
extern const char *const moduleTextSource; ///< how modules print
extern const char *const
    lossModuleSource; ///< losses and attention as modules; behind networkSource
/// Further modules of torch.nn; behind lossModuleSource, in its namespace.
extern const char *const layerSource, *const recurrentSource, *const transformerSource;
extern const char *const networkSource;    ///< torch.nn
extern const char *const activationSource; ///< its activations
extern const char *const poolSource;       ///< its pools
extern const char *const initSource;       ///< torch.nn.init
extern const char *const randomSource;     ///< torch.random, torch.Generator
extern const char *const backendSource;    ///< torch.cuda and other devices; behind runtimeSource
extern const char *const runtimeSource;    ///< torch.device, torch.cuda, torch.autograd.Function
extern const char *const autogradSource;   ///< torch.autograd and what is written with it
/// The derivatives of operators: of those that compute, and of those that move elements.
extern const char *const derivativeSource, *const derivativeSourceOfMoves;
extern const char *const eagerSource; ///< what scripts ask of the values of tensors
extern const char *const fftSource;   ///< torch.fft
/// torch.linalg of scripts: factors and equations, and norms, powers and products behind them.
extern const char *const linalgSource, *const linalgProductSource;
extern const char *const maskedSource;    ///< torch.masked
extern const char *const controlSource;   ///< torch.cond and the loops of torch._higher_order_ops
extern const char *const optimSource;     ///< torch.optim
extern const char *const moreOptimSource; ///< what follows it
extern const char *const transformSource; ///< torch.func, torch.autograd.functional, gradcheck
extern const char *const schedulerSource; ///< torch.optim.lr_scheduler
extern const char *const convolutionGradientSource;
extern const char *const utilitySource;      ///< torch.nn.utils
extern const char *const sequenceSource;     ///< torch.nn.utils.rnn
extern const char *const distributionSource; ///< torch.distributions
extern const char *const moreDistributionSource,
    *const distributionTransformSource, *const distributionRatioSource, *const divergenceSource,
                                                                            *const supportSource;
extern const char *const parametrizeSource;  ///< torch.nn.utils.parametrize
extern const char *const pruneSource;        ///< torch.nn.utils.prune
extern const char *const foreachSource;      ///< torch._foreach_*; part of the composites' module
extern const char *const functionNameSource; ///< other names; part of the composites' module
extern const char *const treeSource;         ///< torch.utils._pytree
extern const char *const averageSource;      ///< torch.optim.swa_utils
extern const char *const ampSource;          ///< torch.amp
extern const char *const flopSource;         ///< torch.utils.flop_counter
extern const char *const operatorSource;     ///< torch.vmap, opcheck
extern const char *const dispatchSource;     ///< modes that see every operator
extern const char *const dataSource;         ///< torch.utils.data
extern const char *const trainingSource;     ///< how packages find out an optimiser's state

} // namespace pellucid::trace
