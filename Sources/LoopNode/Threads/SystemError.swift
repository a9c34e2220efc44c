public import Linux

/// The system refused something: what, with which code, and about what.
public typealias SystemError = Linux.SystemError
