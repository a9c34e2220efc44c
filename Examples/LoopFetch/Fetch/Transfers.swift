// Unsafe: handles are in libcurl's set exactly as long as their transfers are in this table.

internal import CCurl

/// The running and the waiting transfers. It lives on the thread of the fetcher.
@safe struct Transfers: ~Copyable {
    private let multi: Multi
    private let handle: UnsafeMutableRawPointer
    private var active: [UInt64: EasyHandle] = [:]
    private var idle: [EasyHandle] = []
    /// The transfers for which there is no capacity yet, the oldest first.
    private var waiting: [Transfer] = []

    init(_ multi: Multi) {
        self.multi = multi
        unsafe handle = UnsafeMutableRawPointer(multi.handle)
    }

    /// Begins the transfer, now or when there is capacity.
    mutating func add(_ transfer: Transfer) {
        waiting.append(transfer)
        admit()
    }

    /// Ends a running or waiting transfer. Others are unknown, or have ended.
    mutating func cancel(_ number: UInt64) {
        if let easy = active[number] {
            let transfer = remove(easy)
            transfer.resume(.failure(transfer.error(.cancelled, "cancelled")))
            admit()
        } else if let index = waiting.firstIndex(where: { $0.number == number }) {
            let transfer = waiting.remove(at: index)
            transfer.resume(.failure(transfer.error(.cancelled, "cancelled")))
        }
    }

    mutating func cancelAll() {
        for number in Array(active.keys) {
            guard let easy = active[number] else { continue }
            let transfer = remove(easy)
            transfer.resume(.failure(transfer.error(.cancelled, "the fetcher was shut down")))
        }
        for transfer in waiting {
            transfer.resume(.failure(transfer.error(.cancelled, "the fetcher was shut down")))
        }
        waiting = []
        idle = []
    }

    /// Moves bytes, and finishes complete transfers.
    mutating func advance() {
        var isMoving = true
        while isMoving {
            var running: Int32 = 0
            unsafe curl_multi_perform(handle, &running)
            isMoving = finishCompleted()
        }
    }

    /// Whether a transfer was completed, so that another may have begun and can move bytes.
    private mutating func finishCompleted() -> Bool {
        var left: Int32 = 0
        var found = false
        while let message = unsafe curl_multi_info_read(handle, &left) {
            guard unsafe message.pointee.msg == CURLMSG_DONE,
                let easy = unsafe EasyHandle.of(message.pointee.easy_handle)
            else {
                continue
            }
            found = true
            let result = unsafe loop_curl_message_result(message)
            finish(easy, result)
        }
        return found
    }

    private mutating func finish(_ easy: EasyHandle, _ result: CURLcode) {
        let failure = result == CURLE_OK ? nil : easy.failure(result)
        let retryAfterSeconds = easy.retryAfterSeconds
        let transfer = remove(easy)
        if transfer.hasTooLongHeaders(result) {
            transfer.resume(
                .failure(
                    transfer.error(.headersTooLong, "the headers of the answer are too long, or no memory is left")))
        } else if let failure, !(result == CURLE_WRITE_ERROR && transfer.stoppedReading) {
            transfer.resume(.failure(failure))
        } else {
            switch transfer.hopEnded(retryAfterSeconds: retryAfterSeconds) {
            case .hop: begin(transfer)
            case .finished(let outcome): transfer.resume(outcome)
            }
        }
        admit()
    }

    private mutating func admit() {
        while active.count < max(multi.configuration.transfersMax, 1), !waiting.isEmpty {
            begin(waiting.removeFirst())
        }
    }

    private mutating func begin(_ transfer: Transfer) {
        guard let easy = idle.popLast() ?? EasyHandle(multi.configuration) else {
            transfer.resume(.failure(transfer.error(.unavailable, "libcurl has no memory for another transfer")))
            return
        }
        easy.prepare(transfer)
        active[transfer.number] = easy
        let result = unsafe curl_multi_add_handle(handle, easy.handle)
        precondition(result == CURLM_OK, "could not add a transfer: \(result)")
    }

    private mutating func remove(_ easy: EasyHandle) -> Transfer {
        unsafe curl_multi_remove_handle(handle, easy.handle)
        let transfer = easy.clear()
        active[transfer.number] = nil
        idle.append(easy)
        return transfer
    }
}
