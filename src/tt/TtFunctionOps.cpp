// SPDX-License-Identifier: Apache-2.0
// func, return, call.
#include "tt/TtOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;

namespace pellucid::tt {

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type,
                   ArrayRef<NamedAttribute> attrs, ArrayRef<DictionaryAttr> argAttrs) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
  if (!argAttrs.empty())
    call_interface_impl::addArgAndResultAttrs(builder, state, argAttrs, /*resultAttrs=*/{},
                                              getArgAttrsAttrName(state.name),
                                              getResAttrsAttrName(state.name));
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto makeType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                     function_interface_impl::VariadicFlag,
                     std::string &) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), makeType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

LogicalResult ReturnOp::verify() {
  auto function = cast<FuncOp>((*this)->getParentOp());
  ArrayRef<Type> expected = function.getResultTypes();
  // return_c1
  if (getNumOperands() != expected.size())
    return emitOpError() << "expects " << expected.size() << " values for '@" << function.getName()
                         << "', got " << getNumOperands();
  for (auto [index, type] : llvm::enumerate(expected)) {
    // return_c2
    if (getOperand(index).getType() != type)
      return emitOpError() << "expects value " << index << " of type " << type << ", got "
                           << getOperand(index).getType();
  }
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  // call_c1
  if (!callee)
    return emitOpError() << "expects a function, and there is none named '" << getCallee() << "'";
  auto type = FunctionType::get(getContext(), getOperandTypes(), getResultTypes());
  // call_c2
  if (type != callee.getFunctionType()) {
    InFlightDiagnostic error = emitOpError() << "expects the callee's type "
                                             << callee.getFunctionType() << ", got " << type;
    error.attachNote(callee.getLoc()) << "'" << getCallee() << "' is defined here";
    return error;
  }
  return success();
}

} // namespace pellucid::tt
