import Foundation
import Testing

/// `make test-tsan` runs these tests with ThreadSanitizer, and is worth something only where that is on.
@Suite struct `ThreadSanitizer` {
    /// Whether it is in this process.
    static let isOn = dlsym(nil, "__tsan_init") != nil

    @Test func `is on where a run says so, and off in every other`() {
        #expect(Self.isOn == (ProcessInfo.processInfo.environment["LOOP_SANITIZER"] == "thread"))
    }

    @Test func `finds a deliberate race where it is on`() async {
        if Self.isOn {
            await #expect(processExitsWith: .failure) { deliberateRace() }
        } else {
            await #expect(processExitsWith: .success) { deliberateRace() }
        }
    }
}

/// Two threads write to one place, with nothing that orders them. ThreadSanitizer ends the process with a code of its own.
@inline(never) private func deliberateRace() {
    let place = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    place.initialize(to: 0)
    let address = Int(bitPattern: place)
    let ended = DispatchSemaphore(value: 0)
    for value in 1...2 {
        Thread.detachNewThread {
            UnsafeMutablePointer<Int>(bitPattern: address)?.pointee = value
            ended.signal()
        }
    }
    for _ in 1...2 { ended.wait() }
    // Not in order with the end of the process either.
    exit(0)
}
