extension Cells {
    /// Predicates hold where a lens sees two or more.
    func isTrue(_ lens: Lens) -> Bool { (lens.value(self) ?? 0) >= 2 }
}

extension Put {
    /// Payloads are the values that go to one cell.
    func payload(_ cell: Int) -> Int? { self.cell == cell ? value : nil }
}

extension ModelFeedback {
    /// The part that the feedback is of, seen from outermost to innermost.
    func project(_ whole: Cells) -> Cells? {
        var part = whole
        for modifier in modifiers.reversed() {
            switch modifier {
            case .part: part = part.rotated
            case .present(let cell), .optional(let cell), .connected(let cell): if part[cell] == 0 { return nil }
            case .mapped: break
            }
        }
        return part
    }

    /// The part's event in one of the whole; nil for a foreign one.
    func localize(_ event: Put) -> Put? {
        var local = event
        for modifier in modifiers.reversed() {
            switch modifier {
            case .part:
                if local.cell == 0 { return nil }
                local.cell -= 1
            case .present, .optional, .connected: break
            case .mapped: return nil
            }
        }
        return local
    }

    /// The whole's event for one of the part.
    func embed(_ event: Put) -> Put {
        var whole = event
        for modifier in modifiers {
            switch modifier {
            case .part: whole.cell = (whole.cell + 1) % 3
            case .present, .optional, .connected: break
            case .mapped: whole.value = 3 - whole.value
            }
        }
        return whole
    }

    /// Milliseconds before a failed effect is tried again; those of different feedbacks are never due together.
    func delay(_ feedback: Int) -> Int { 10_000 + 1000 * feedback }

    /// Milliseconds that an attempt may take.
    func limit(_ feedback: Int) -> Int { 100_000 + 1000 * feedback }

    /// Whether effects start in the order of their feedbacks. Those with limits start when these allow.
    var startsInOrder: Bool { concurrency == nil }
}
