import CLinux
import Foundation

/// Another process that has a file's lock until it is killed.
final class LockHolder {
    private let process: pid_t

    /// Returns once it has the lock.
    init(_ path: String) throws {
        var input: Int32 = 0
        var output: Int32 = 0
        guard loop_pipe(&input, &output) == 0 else { throw SmallDisk.Failure(description: "no pipe") }
        defer { close(input) }
        let words: [String] = ["/usr/bin/flock", "--no-fork", path, "sh", "-c", "echo; exec sleep 600"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        process = arguments.withUnsafeBufferPointer { arguments in
            var child = loop_child()
            child.path = UnsafePointer(arguments[0])
            child.arguments = arguments.baseAddress
            child.environment = UnsafePointer(loop_environment())
            child.input = -1
            child.output = output
            child.errors = -1
            return loop_child_start(&child)
        }
        close(output)
        guard process > 0 else { throw SmallDisk.Failure(description: "flock did not start: \(process)") }
        var ready = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 60_000) == 1, ready.revents & Int16(POLLIN) != 0 else {
            throw SmallDisk.Failure(description: "flock did not get the lock")
        }
    }

    /// Ends it as the system would, without a chance to clean up.
    func kill() { Foundation.kill(process, SIGKILL) }

    deinit {
        kill()
        waitpid(process, nil, 0)
    }
}
