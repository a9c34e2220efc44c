// Unsafe: the multi handle belongs to libcurl and to this thread, which frees it at its end.

internal import CCurl
internal import Linux
internal import LoopCollections

/// The thread that runs all transfers of a fetcher, with its inbox.
///
/// Tasks put commands into the inbox. The thread takes them all at once, and is woken only if the inbox was empty.
/// Continuations are resumed on the thread, outside of any lock.
final class FetchThread: Sendable {
    private enum Command {
        case start(Transfer)
        case cancel(UInt64)
    }

    private struct Inbox {
        var commands: [Command] = []
        var nextNumber: UInt64 = 1
        var isClosed = false
    }

    private let inbox = Locked(Inbox())
    private let multi: Multi
    /// Whether the thread has ended.
    private let isOver = Monitor(false)

    /// Starts the thread, which keeps this object until it ends.
    init(configuration: FetchConfiguration) throws(FetchError) {
        guard let multi = Multi(configuration) else {
            throw FetchError(.unavailable, url: "", reason: "libcurl could not be set up: out of memory or sockets")
        }
        self.multi = multi
        do throws(SystemError) {
            try Signals.withAllButFaultsBlocked { () throws(SystemError) in
                try SystemThread.start("loop-fetch", stackBytes: 8 << 20) {
                    self.run()
                    self.isOver.withLock { $0 = true }
                    self.isOver.broadcast()
                }
            }
        } catch {
            throw FetchError(.unavailable, url: "", reason: "no thread could be started: errno \(error.code)")
        }
    }

    /// Returns a number for the next transfer, by which it can be cancelled.
    func nextNumber() -> UInt64 {
        inbox.withLock { inbox in
            inbox.nextNumber += 1
            return inbox.nextNumber
        }
    }

    func start(_ transfer: Transfer) {
        guard !send(.start(transfer)) else { return }
        transfer.resume(.failure(transfer.error(.cancelled, "the fetcher was shut down")))
    }

    func cancel(_ number: UInt64) { _ = send(.cancel(number)) }

    /// Makes the thread cancel everything and end.
    func close() {
        inbox.withLock { $0.isClosed = true }
        multi.wake()
    }

    func join() { isOver.wait(until: { $0 }) }

    /// Sends a command. It returns false if the thread accepts no more commands.
    private func send(_ command: Command) -> Bool {
        let (isTaken, wasEmpty) = inbox.withLock { inbox in
            guard !inbox.isClosed else { return (false, false) }
            let wasEmpty = inbox.commands.isEmpty
            inbox.commands.append(command)
            return (true, wasEmpty)
        }
        if wasEmpty { multi.wake() }
        return isTaken
    }

    private func run() {
        var transfers = Transfers(multi)
        while true {
            let (commands, isClosed) = inbox.withLock { inbox in
                let commands = inbox.commands
                inbox.commands = []
                return (commands, inbox.isClosed)
            }
            for command in commands {
                switch command {
                case .start(let transfer): transfers.add(transfer)
                case .cancel(let number): transfers.cancel(number)
                }
            }
            if isClosed {
                transfers.cancelAll()
                return
            }
            transfers.advance()
            multi.wait()
        }
    }
}

/// libcurl's multi handle. Only `wake` may be called on any thread. The handle is freed when no thread can call it any more.
@safe final class Multi: @unchecked Sendable {
    let configuration: FetchConfiguration
    let handle: OpaquePointer

    /// The number of connections that are kept open for later requests.
    private static let keptConnectionsMax = 256

    private static let isLibrarySetUp = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK

    init?(_ configuration: FetchConfiguration) {
        guard Self.isLibrarySetUp, let handle = unsafe curl_multi_init() else { return nil }
        unsafe self.handle = OpaquePointer(handle)
        self.configuration = configuration
        _ = unsafe loop_curl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, Self.keptConnectionsMax)
    }

    deinit { unsafe curl_multi_cleanup(UnsafeMutableRawPointer(handle)) }

    func wake() { unsafe curl_multi_wakeup(UnsafeMutableRawPointer(handle)) }

    /// Waits until there may be bytes or a command, or until a time limit is near.
    func wait() { unsafe curl_multi_poll(UnsafeMutableRawPointer(handle), nil, 0, 60_000, nil) }
}
