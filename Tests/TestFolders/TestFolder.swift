internal import Foundation
internal import Glibc
internal import LoopCollections
package import LoopNode

/// A folder of a test's own, removed with its contents when the test lets go of it.
package final class TestFolder: Sendable {
    private let folder: TemporaryFolder

    package var path: String { folder.path }

    package init() {
        do {
            folder = try TemporaryFolder("loop")
        } catch {
            preconditionFailure("\(error)")
        }
    }

    deinit { folder.remove() }

    /// Writes a file, in folders that are made where they are missing.
    package func write(_ name: String, _ text: String) {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/" + part
            mkdir(folder, 0o755)
        }
        guard let file = fopen("\(path)/\(name)", "we") else { preconditionFailure("no file \(name) in \(path)") }
        fputs(text, file)
        fclose(file)
    }

    /// Writes a script of the shell that can be run. A shell of its own writes it: a file that this process had open for writing could
    /// not be run as long as a child has it too, which some other test has started in that moment.
    package func writeProgram(_ name: String, _ script: String) {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c", "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\" && /bin/chmod 755 \"$2\"", "sh", script, "\(path)/\(name)",
        ]
        do { try shell.run() } catch { preconditionFailure("no shell: \(error)") }
        shell.waitUntilExit()
        precondition(shell.terminationStatus == 0, "no program \(name) in \(path)")
    }

    package func link(_ name: String, to target: String) {
        precondition(symlink(target, "\(path)/\(name)") == 0, "no link \(name) in \(path)")
    }
}

/// An `ipc://` address for the caller alone. It is short, since the path of a socket has at most 107 bytes. What is bound there
/// is gone when this process ends.
package func ipcEndpoint() -> String {
    let number = endpointsCount.withLock { count in
        count += 1
        return count
    }
    return "ipc://\(endpoints.path)/\(number)"
}

/// An address as by `ipcEndpoint()`, for the clients of a reducer.
package func ipcAddress() -> ReducerAddress { ReducerAddress(stringLiteral: ipcEndpoint()) }

private let endpointsCount = Locked(0)

private let endpoints: TemporaryFolder = {
    do {
        let folder = try TemporaryFolder("loop")
        atexit { endpoints.remove() }
        return folder
    } catch {
        preconditionFailure("\(error)")
    }
}()
