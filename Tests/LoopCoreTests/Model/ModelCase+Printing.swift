// Cases print as the Swift that makes them, so that a found one can be pasted as a test.

extension ModelCase: CustomStringConvertible {
    var description: String {
        let parts = [
            "initial: \(initial)", list("feedbacks", feedbacks), list("reactions", reactions), list("steps", steps),
        ]
        return "ModelCase(\n    \(parts.joined(separator: ",\n    ")))"
    }

    private func list<Element: CustomStringConvertible>(_ name: String, _ elements: [Element]) -> String {
        if elements.isEmpty { return "\(name): []" }
        return "\(name): [\n" + elements.map { "        \($0),\n" }.joined() + "    ]"
    }
}

extension ModelFeedback: CustomStringConvertible {
    var description: String {
        var text = ".init(.\(form), .\(body)"
        if !modifiers.isEmpty { text += ", modifiers: [\(modifiers.map { ".\($0)" }.joined(separator: ", "))]" }
        if attempts != 1 { text += ", attempts: \(attempts)" }
        if isLimited { text += ", isLimited: true" }
        if let failing { text += ", failing: \(failing)" }
        if let concurrency { text += ", concurrency: \(concurrency)" }
        return text + ")"
    }
}

extension Lens: CustomStringConvertible {
    var description: String {
        switch self {
        case .cell(let cell): ".cell(\(cell))"
        case .sum: ".sum"
        }
    }
}

extension Form: CustomStringConvertible {
    var description: String {
        switch self {
        case .lensing(let lens): "lensing(\(lens))"
        case .skippingRepeated(let lens): "skippingRepeated(\(lens))"
        case .firstValueAfterNil(let lens): "firstValueAfterNil(\(lens))"
        case .whenBecomesTrue(let lens): "whenBecomesTrue(\(lens))"
        case .whileTrue(let lens): "whileTrue(\(lens))"
        case .everyState: "everyState"
        case .extracting(let cell): "extracting(\(cell))"
        case .extractingAndKeeping(let cell): "extractingAndKeeping(\(cell))"
        case .skippingRepeatedEvents(let cell): "skippingRepeatedEvents(\(cell))"
        case .skippingRepeatedEventsAndKeeping(let cell): "skippingRepeatedEventsAndKeeping(\(cell))"
        case .middleware: "middleware"
        case .each: "each"
        case .set: "set"
        case .source: "source"
        case .custom: "custom"
        case .input: "input"
        }
    }
}

extension Body: CustomStringConvertible {
    var description: String {
        switch self {
        case .events(let events): "events(\(events))"
        case .task: "task"
        }
    }
}

extension Reaction: CustomStringConvertible {
    var description: String {
        let when =
            switch place {
            case .reducing(let event): ".reducing(\(event))"
            case .starting(let feedback): ".starting(\(feedback))"
            }
        let then =
            switch deed {
            case .send(let event): ".send(\(event))"
            case .stop: ".stop"
            case .subscribe: ".subscribe"
            case .sendAs(let feedback, let back, let event): ".sendAs(\(feedback), back: \(back), \(event))"
            }
        return ".init(\(when), \(then))"
    }
}

extension Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .send(let event): ".send(\(event))"
        case .mutate(let cell, let value): ".mutate(\(cell), \(value))"
        case .subscribe: ".subscribe"
        case .read(let reader, let event): ".read(\(reader), \(event))"
        case .effect(let feedback, let back, let deed): ".effect(\(feedback), back: \(back), \(deed))"
        case .custom(let feedback, let event): ".custom(\(feedback), \(event))"
        case .input(let feedback, let event): ".input(\(feedback), \(event))"
        case .advance: ".advance"
        case .retryParked(let feedback): ".retryParked(\(feedback))"
        case .stop: ".stop"
        }
    }
}

extension Step.Deed: CustomStringConvertible {
    var description: String {
        switch self {
        case .send(let events): ".send(\(events))"
        case .confirm(let event): ".confirm(\(event))"
        case .complete: ".complete"
        case .fail: ".fail"
        case .takeUpdate: ".takeUpdate"
        }
    }
}
