public import Linux

/// An error of a system call: the operation, the code and the object.
public typealias SystemError = Linux.SystemError
