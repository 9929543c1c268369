# SPDX-License-Identifier: Apache-2.0
class TritonError(Exception):
    pass


class CompilationError(TritonError):
    def __init__(self, message="", node=None, error_message=None):
        self.src, self.node, self.error_message = message, node, error_message if error_message is not None else message
        self.message = message
        super().__init__(message)


class CompileTimeAssertionFailure(CompilationError):
    pass


class UnsupportedLanguageConstruct(CompilationError):
    pass


class OutOfResources(TritonError):
    def __init__(self, required, limit, name):
        self.required, self.limit, self.name = required, limit, name
        self.message = f"out of resource: {name}, Required: {required}, Hardware limit: {limit}. Reducing block sizes or `num_stages` may help."
        super().__init__(self.message)


class PTXASError(TritonError):
    pass


class AutotunerError(TritonError):
    pass


class InterpreterError(TritonError):
    pass
