import LoopExamples

// Checks of effects.
extension Check {
    /// A booking comes from the attempt that began last.
    static let oneAttemptAtATime = Check(name: "one attempt at a time") { evidence in
        guard let state = evidence.state else { return ["the reducer told no final state"] }
        var found = state.torn > 0 ? ["\(state.torn) bookings came from another attempt than the last that began"] : []
        for (deposit, lines) in evidence.pages.sorted(by: { $0.key < $1.key }) {
            let booking = Set(lines.filter { if case .booked = $0.note { true } else { false } }.map(\.slip))
            if booking.count > 1 { found.append("deposit \(deposit) was booked by \(booking.count) attempts") }
            let keys = Set(lines.map(\.key))
            if keys.count > 1 {
                found.append("the attempts of deposit \(deposit) had different keys: \(keys.sorted())")
            }
        }
        return found
    }

    /// Every deposit was booked or cancelled, and every booked one was written to its page.
    static let everyEffectCompleted = Check(name: "every effect completed") { evidence in
        guard let state = evidence.state else { return ["the reducer told no final state"] }
        var found = state.open.keys.sorted().map { "deposit \($0) is still open" }
        for deposit in state.booked.ranges.joined() {
            guard let lines = evidence.pages[deposit] else {
                found.append("deposit \(deposit) was booked, and has no page")
                continue
            }
            if !lines.contains(where: { $0.note == .written }) {
                found.append("deposit \(deposit) was booked, and its page says that nobody has written it")
            }
        }
        if state.booked.ranges.isEmpty { found.append("nothing was booked") }
        return found
    }

    /// The holder starts each effect once in a life of its process, however often the reducer restarts. The holder is never
    /// frozen or cut off, and no other worker may run its effects.
    static let heldEffectsStay = Check(name: "held effects stay") { evidence in
        guard let holding = evidence.holding else { return [] }
        var found: [String] = []
        for life in holding.lives {
            let again = life.filter { $0.value > 1 }.keys
            guard let first = again.min() else { continue }
            found.append("a life of the holder has started \(again.count) effects more than once, such as \(first)")
        }
        let started = holding.lives.reduce(into: Set<UInt64>()) { $0.formUnion($1.keys) }
        if started.count != holding.count {
            found.append("\(started.count) effects of \(holding.count) that were to be held have ever been started")
        }
        if holding.heldAtEnd != holding.count {
            found.append("after the last fault the holder held \(holding.heldAtEnd) of \(holding.count) effects")
        }
        if holding.leftAtEnd != 0 {
            found.append("\(holding.leftAtEnd) held effects were there after all of them were given up")
        }
        return found
    }

    /// Every seq and deposit on a page is in the state too.
    static let bookingsAgreeWithThePages = Check(name: "pages agree with the state") { evidence in
        guard let state = evidence.state else { return ["the reducer told no final state"] }
        var found: [String] = []
        var bySeq: [UInt64: UInt64] = [:]
        for (deposit, lines) in evidence.pages.sorted(by: { $0.key < $1.key }) {
            for line in lines {
                guard case .booked(let seq) = line.note else { continue }
                if !state.booked.contains(deposit) {
                    found.append("the page of deposit \(deposit) says booked at \(seq), and the state does not")
                }
                if let other = bySeq.updateValue(deposit, forKey: seq.value), other != deposit {
                    found.append("deposits \(other) and \(deposit) were both booked at \(seq)")
                }
            }
            if !state.received.contains(deposit) {
                found.append("there is a page of deposit \(deposit), which is not in the state")
            }
        }
        return found
    }
}
