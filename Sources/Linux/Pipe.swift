// Unsafe: the system writes two numbers during the call.

internal import CLinux
internal import Glibc

/// A pipe whose ends no other program inherits. Reading from it does not wait.
@frozen package struct Pipe: ~Copyable, Sendable {
    /// The end from which bytes are read.
    package var readEnd: Descriptor
    /// The end to which bytes are written.
    package var writeEnd: Descriptor

    /// - Throws: ``SystemError`` if no descriptors are left.
    package init() throws(SystemError) {
        var (read, write): (Int32, Int32) = (0, 0)
        let code = unsafe loop_pipe(&read, &write)
        guard code == 0 else { throw SystemError("open a pipe", code: -code, hint: "raise `ulimit -n`") }
        readEnd = Descriptor(read, name: "a pipe")
        writeEnd = Descriptor(write, name: "a pipe")
    }
}
