internal import Glibc
internal import Linux
internal import LoopCollections
internal import LoopNode

/// A server's process with those that it has started, each of which has a process group of its own.
final class ServerProcess: Sendable {
    let child: ChildProcess
    /// Ends what stands still, should this process end meanwhile.
    private let guardian = Locked<ChildProcess?>(nil)

    init(_ child: ChildProcess) { self.child = child }

    deinit { guardian.withLock { $0 }?.kill() }

    func end() {
        let all = stopped()
        child.kill()
        for process in all { Glibc.kill(process, SIGKILL) }
        // The memory that they share is free when the last of them is gone, and a next server needs that.
        while all.contains(where: { (Self.state(of: $0) ?? "Z") != "Z" }) { usleep(1000) }
        guardian.withLock { $0.take() }?.kill()
    }

    func freeze() {
        let all = stopped()
        let words = ([child.processID] + all).map(String.init).joined(separator: " ")
        // The kernel ends the server's process with this one, but what that has started would stand still for ever.
        let script = "trap 'kill -KILL \(words); exit' TERM; while :; do sleep 1; done"
        let process = try? ChildProcess(
            .init("/bin/sh", ["-c", script], output: .discarded, deathSignal: SIGTERM))
        guardian.withLock { $0 = process }
        for process in all { Glibc.kill(process, SIGSTOP) }
    }

    func thaw() {
        for process in Self.children(of: child.processID) { Glibc.kill(process, SIGCONT) }
        child.send(SIGCONT)
        guardian.withLock { $0.take() }?.kill()
    }

    /// Stops the process, which starts no other from then on.
    /// - Returns: those that it has started.
    private func stopped() -> [Int32] {
        child.send(SIGSTOP)
        while let state = Self.state(of: child.processID), state != "T", state != "Z" { usleep(100) }
        return Self.children(of: child.processID)
    }

    private static func children(of process: Int32) -> [Int32] {
        text(of: "/proc/\(process)/task/\(process)/children")?.split(separator: " ").compactMap { Int32($0) } ?? []
    }

    /// `T` if the process is stopped, `Z` if it has ended, or nil if it is gone.
    private static func state(of process: Int32) -> Character? {
        // `12 (its name) S …`; the name may have parentheses.
        guard let text = text(of: "/proc/\(process)/stat"), let end = text.lastIndex(of: ")") else { return nil }
        return text[end...].dropFirst(2).first
    }

    private static func text(of path: String) -> String? {
        (try? FileSystem.bytes(of: path)).map { String(decoding: $0, as: UTF8.self) }
    }
}
