import CBOR
import LoopCore
import LoopNode
import LoopView
import LoopWire

/// The page of the console.
struct ConsolePage: View {
    let store: Store<ConsoleState, ConsoleState.Event>

    var body: [Element] {
        Widget(viewModel: store) { console in
            PageAddress(console.binding(of: console.place.text) { .visit($0) })
            ConsoleHead(console: console)
            switch console.place {
            case .now: NowView(console: console)
            case .timeline(let filter): TimelineView(console: console, filter: filter)
            case .transition(let seq): TransitionView(console: console, seq: seq)
            case .state(let seq, let path): StateView(console: console, seq: seq, path: path)
            case .why(let path, let before): WhyView(console: console, path: path, before: before)
            case .whatIf(let question): WhatIfView(console: console, question: question)
            case .effects: EffectsView(console: console)
            case .effect(let effect): EffectView(console: console, effect: effect)
            }
        }
    }
}

/// One browser's console at a moment.
typealias ConsoleContext = Context<ConsoleState, ConsoleState.Event>

extension Link {
    init(_ text: String, to place: ConsolePlace) { self.init(text, to: place.link) }
}

/// A line where an answer is missing: the reason, or that it is under way.
private struct Missing: View {
    let console: ConsoleContext
    let question: ConsoleQuestion

    var body: [Element] {
        if let why = console.state.failure(of: question) {
            Text(why).tone(.bad)
            Button("Ask again", action: console.action(for: .reload))
        } else if console.answers[question] == nil {
            ProgressBar("the reducer is asked")
        }
    }
}

/// The loop's health in a line, the places, and a field to go to any other.
private struct ConsoleHead: View {
    let console: ConsoleContext

    var body: [Element] {
        Row {
            if let members = console.members {
                let report = members[0].report
                Heading(report.loop)
                if report.isReady {
                    Text("ready").tone(.good).strong()
                } else {
                    Text("not ready: \(report.notReadyBecause ?? "it does not say why")").tone(.bad).strong()
                }
                Text("seq \(report.seq), \(ProgressReading.rateText(report.eventsPerSecond)) events/s").tone(.secondary)
            } else {
                Heading("Loop console")
                Missing(console: console, question: .members)
            }
        }
        Row {
            for (name, place) in Self.places { Link(name, to: place).strong(isHere(place)).id(name) }
            TextField(
                "", text: console.binding(for: \.wanted, event: { .want($0) }),
                prompt: "go to 17, 0.17.2 or orders.o-17", onSubmit: console.action(for: .go))
        }
        if let notice = console.notice { Text(notice).tone(.accent) }
    }

    private static let places: [(name: String, place: ConsolePlace)] = [
        ("Now", .now), ("Timeline", .timeline(ConsoleFilter())), ("State", .state(at: nil, path: [])),
        ("Effects", .effects),
    ]

    private func isHere(_ place: ConsolePlace) -> Bool {
        switch (place, console.place) {
        case (.timeline, .timeline), (.timeline, .transition), (.timeline, .whatIf), (.state, .state), (.state, .why),
            (.effects, .effect):
            true
        default: place == console.place
        }
    }
}

/// An action, which is confirmed by a second press if it cannot be undone.
private struct OrderButton: View {
    let console: ConsoleContext
    let label: String
    let request: AdministrationRequest
    var isFinal = false

    var body: [Element] {
        let isUnderWay = console.orders.values.contains { $0.request == request }
        if isFinal, console.unconfirmed != request {
            Button(label, action: console.action(for: .order(request, isConfirmed: false)))
        } else {
            Button(
                isFinal ? "\(label) for good" : label, action: console.action(for: .order(request, isConfirmed: true))
            )
            .tone(isFinal ? .bad : .plain).disabled(isUnderWay)
        }
    }
}

/// Health, members, rates, feedbacks, what waits and why, and what needs a person.
private struct NowView: View {
    let console: ConsoleContext

    var body: [Element] {
        if let members = console.members {
            for warning in members[0].report.warnings { Text(warning).tone(.warning) }
            Text(StatusTable(members[0].report, members: members, silent: console.silent).text).code()
        }
        Heading("Parked", level: 2)
        EffectsList(
            console: console, question: .effects(.parked), isRetried: true, none: "no effect has failed for good")
        Heading("Waiting", level: 2)
        EffectsList(console: console, question: .effects(.waiting), none: "no effect waits")
        Heading("Quarantined", level: 2)
        Missing(console: console, question: .quarantine)
        if case .quarantine(let events) = console.answers[.quarantine] {
            if events.isEmpty { Text("no event is set aside").tone(.secondary) }
            List(events, id: \.id) { event in
                Row {
                    Text("event \(event.id), \(WallTime(milliseconds: event.time).text)")
                    Text("ended the process \(event.crashes) times, while: \(event.phase)").tone(.bad)
                    Text(event.effect.map { "of effect \($0)" } ?? "session \(event.session)").tone(.secondary)
                    OrderButton(
                        console: console, label: "Retry", request: .retryQuarantined(id: event.id, who: Operator.name))
                    OrderButton(
                        console: console, label: "Drop", request: .dropQuarantined(id: event.id, who: Operator.name),
                        isFinal: true)
                }
            }
        }
    }
}

/// Live effects, and why each is in its state.
private struct EffectsList: View {
    let console: ConsoleContext
    let question: ConsoleQuestion
    var isRetried = false
    let none: String

    var body: [Element] {
        Missing(console: console, question: question)
        if case .effects(let effects, let others) = console.answers[question] {
            if effects.isEmpty { Text(none).tone(.secondary) }
            List(effects, id: \.effect) { effect in
                Row {
                    EffectLink(effect: effect.effect)
                    Text(effect.feedback)
                    Text(effect.state.rawValue).tone(effect.state.tone)
                    Text(JSONText.onOneLine(effect.text, 200)).tone(isRetried ? .bad : .secondary)
                    if let wait = effect.waitMilliseconds { Text("for \(Duration.milliseconds(wait).text)") }
                    if effect.failures > 0 {
                        Text("\(effect.failures) \(effect.failures == 1 ? "failure" : "failures")").tone(.warning)
                    }
                    if isRetried {
                        OrderButton(
                            console: console, label: "Retry",
                            request: .retryParked(effect: effect.effect, who: Operator.name))
                    }
                }
            }
            if others > 0 { Text("and \(others) more").tone(.secondary) }
        }
    }
}

extension ListedEffect.State {
    fileprivate var tone: Tone {
        switch self {
        case .running: .accent
        case .waiting: .warning
        case .parked: .bad
        case .completed: .good
        }
    }
}

/// The name of an effect, as a link to its records.
private struct EffectLink: View {
    let effect: String

    var body: [Element] {
        if let id = EffectID(effect) { Link(effect, to: .effect(id)) } else { Text(effect) }
    }
}

/// All transitions, the newest first, or those that a filter selects.
private struct TimelineView: View {
    let console: ConsoleContext
    let filter: ConsoleFilter

    var body: [Element] {
        Row {
            field("Event", \.event, "case")
            field("Sender", \.sender, "session")
            field("Effect", \.effect, "0.17.2")
            field("Text", \.text, "anything in it")
            Button("Filter", action: console.action(for: .filter))
            if !filter.isEmpty { Link("Show all", to: .timeline(ConsoleFilter())) }
        }
        if !filter.isEmpty {
            found
        } else {
            Row {
                Text("\(console.state.rowsCount) transitions").tone(.secondary)
                Button("Newest", action: console.action(for: .newest))
                Button("Newer", action: console.action(for: .scroll(console.first - ConsoleState.windowRows)))
                    .disabled(console.first == 0)
                Button("Older", action: console.action(for: .scroll(console.first + ConsoleState.windowRows)))
                    .disabled(console.first + ConsoleState.windowRows >= console.state.rowsCount)
                Button(
                    "Oldest", action: console.action(for: .scroll(console.state.rowsCount - ConsoleState.windowRows)))
            }
            rows
        }
    }

    private func field(
        _ label: String, _ path: any WritableKeyPath<ConsoleFilter, String> & Sendable, _ prompt: String
    ) -> TextField {
        let draft = console.draft
        return TextField(
            label,
            text: console.binding(of: draft[keyPath: path]) { text in
                var draft = draft
                draft[keyPath: path] = text
                return .type(draft)
            }, prompt: prompt, onSubmit: console.action(for: .filter))
    }

    @ViewBuilder private var rows: [Element] {
        if let window = console.state.window {
            let question = ConsoleQuestion.rows(window)
            if let why = console.state.failure(of: question) { Text(why).tone(.bad) }
            let last = console.top - window.upperBound
            WindowList(count: console.state.rowsCount, first: Int(last), onMove: { console.send(event: .scroll($0)) }) {
                Entries(window.reversed(), id: \.self) { seq in EventRow(seq: seq, record: console.events[seq]) }
            }
        } else if console.members != nil {
            Text("there is no transition yet").tone(.secondary)
        }
    }

    @ViewBuilder private var found: [Element] {
        if let selection = filter.selection(max: ConsoleState.windowRows) {
            let question = ConsoleQuestion.found(selection, before: console.before.last)
            Missing(console: console, question: question)
            if case .records(let records, let next) = console.answers[question] {
                List(records, id: \.position) { EventRow(seq: $0.seq, record: $0) }
                if records.isEmpty { Text("none in this part of the journal").tone(.secondary) }
                Row {
                    if let next { Button("Older", action: console.action(for: .older(next))) }
                    if !console.before.isEmpty { Button("Newest", action: console.action(for: .newest)) }
                    if next == nil { Text("there are no older ones").tone(.secondary) }
                }
            }
        } else {
            Text("the sender is the number of a session, such as 3").tone(.bad)
        }
    }
}

/// A transition in a line.
private struct EventRow: View {
    let seq: UInt64
    let record: HistoryRecord?

    var body: [Element] {
        Row {
            Link("\(seq)", to: .transition(seq))
            if let record {
                Text(record.time.map { WallTime(milliseconds: $0).text } ?? "").tone(.secondary)
                Text(record.sender).tone(.accent)
                Text(JSONText.onOneLine(record.event.map(JSONText.document) ?? "", 300)).code()
            } else {
                Text("…").tone(.secondary)
            }
        }
    }
}

extension HistoryRecord {
    /// What sent an event, in a few words.
    fileprivate var sender: String {
        effect.map { "effect \($0)" } ?? session.map { "session \($0)" } ?? note ?? "the reducer"
    }
}

/// One transition: its event, its sender, what it changed, and the effects that it started, updated or cancelled.
private struct TransitionView: View {
    let console: ConsoleContext
    let seq: UInt64

    var body: [Element] {
        Row {
            Heading("Transition \(seq)", level: 2)
            if seq > 1 { Link("Before", to: .transition(seq - 1)) }
            if seq < console.state.newest ?? 0 { Link("After", to: .transition(seq + 1)) }
            Link("State after it", to: .state(at: seq, path: []))
            Link("What if?", to: .whatIf(WhatIfQuestion(after: seq)))
        }
        Missing(console: console, question: .transition(seq))
        if case .transition(let origin) = console.answers[.transition(seq)] {
            Text(origin.event.time.map { WallTime(milliseconds: $0).text } ?? "").tone(.secondary)
            Text(JSONText.indented(origin.event.event.map(JSONText.document) ?? "null")).code()
            sender(origin)
            if let step = origin.step {
                Heading("Changes", level: 3)
                if step.changes.isEmpty { Text("the state is as before").tone(.secondary) }
                List(step.changes, id: \.path) { ChangeView(change: $0) }
                if step.areChangesCut { Text("and more").tone(.secondary) }
                Heading("Effects", level: 3)
                if step.effects.isEmpty { Text("no effect was started, updated or cancelled").tone(.secondary) }
                List(step.effects, id: \.effect) { effect in
                    Row {
                        Text(effect.kind.rawValue).tone(effect.kind == .cancelled ? .warning : .good)
                        EffectLink(effect: effect.effect)
                        Text(effect.feedback)
                        Text(JSONText.onOneLine(JSONText.document(effect.request), 300)).code()
                    }
                }
                if step.effectsLeftOut > 0 { Text("and \(step.effectsLeftOut) more").tone(.secondary) }
            }
        }
    }

    @ViewBuilder private func sender(_ origin: EventOrigin) -> [Element] {
        Row {
            if let effect = origin.event.effect {
                Text("sent by effect")
                EffectLink(effect: effect)
                Text("of \(origin.feedback ?? "?")")
                if let cause = origin.cause {
                    Text("which was asked for by")
                    Link("transition \(cause.seq)", to: .transition(cause.seq))
                }
            } else if origin.event.session == nil {
                Text("no peer sent it")
            }
            if let session = origin.event.session {
                Text(
                    "in session \(session) of \(origin.peer.map { "peer \($0)" } ?? "a peer whose record was trimmed")")
                if let key = origin.key { Text("with the key \(key)") }
            }
        }
    }
}

/// A part of the state before and after.
private struct ChangeView: View {
    let change: StateStep.Change

    var body: [Element] {
        Row {
            if change.path.isEmpty {
                Text("the whole state")
            } else {
                Link(StatePath.text(of: change.path), to: .why(path: change.path, before: nil))
            }
            Text(shown(change.old, change.oldBytes)).code().tone(.bad)
            Text("→").tone(.secondary)
            Text(shown(change.new, change.newBytes)).code().tone(.good)
        }
    }

    private func shown(_ value: [UInt8], _ size: Int) -> String {
        if size == 0 { return "absent" }
        return value.isEmpty ? "\(size) bytes" : JSONText.onOneLine(JSONText.document(value), 300)
    }
}

/// What events would do that have not happened.
private struct WhatIfView: View {
    let console: ConsoleContext
    let question: WhatIfQuestion

    var body: [Element] {
        Row {
            Heading("What if, after seq \(question.after)", level: 2)
            if question.after > 0 { Link("its transition", to: .transition(question.after)) }
            Link("its state", to: .state(at: question.after, path: []))
        }
        Text(
            "Nothing is sent and nothing is written: the loop's own program applies the events to a copy of the state."
        )
        .tone(.secondary)
        Row {
            TextField(
                "Next event", text: console.binding(of: console.trial) { .typeTrial($0) },
                prompt: "as loopctl send takes it",
                onSubmit: console.action(for: .tryEvent))
            Button("Try", action: console.action(for: .tryEvent))
        }
        if case .examples(let examples) = console.answers[.examples] {
            for example in examples { Button(example, action: console.action(for: .typeTrial(example))).id(example) }
        }
        if !question.events.isEmpty {
            Row {
                Link("Without the last", to: .whatIf(question.upTo(question.events.count - 1)))
                if question.isTest {
                    Link("Changes", to: .whatIf(question.upTo(question.events.count)))
                } else {
                    Link(
                        "As a test",
                        to: .whatIf(WhatIfQuestion(after: question.after, events: question.events, isTest: true)))
                }
            }
        }
        Missing(console: console, question: .whatIf(question))
        if case .whatIf(let lines) = console.answers[.whatIf(question)] {
            if question.isTest {
                Text(lines.joined(separator: "\n")).code()
            } else {
                for (number, line) in lines.enumerated() { Text(line).code().tone(tone(of: line)).id(number) }
            }
        }
    }

    private func tone(of line: String) -> Tone {
        line.hasPrefix("  -") ? .bad : line.hasPrefix("  +") ? .good : line.hasPrefix("seq") ? .plain : .accent
    }
}

/// One level of a state, of which the parts are opened by their links.
private struct StateView: View {
    let console: ConsoleContext
    let seq: UInt64?
    let path: [String]

    var body: [Element] {
        let question = ConsoleQuestion.level(at: seq, path: path, from: console.first)
        Row {
            Heading(seq.map { "State after \($0)" } ?? "Newest state", level: 2)
            if let seq { Link("its transition", to: .transition(seq)) }
            if seq == nil { Button("Read again", action: console.action(for: .reload)) }
        }
        Row {
            Link("state", to: .state(at: seq, path: []))
            for depth in path.indices {
                Link(path[depth], to: .state(at: seq, path: Array(path[...depth]))).id(depth)
            }
            if !path.isEmpty { Link("Why is this so?", to: .why(path: path, before: seq.map { $0 + 1 })) }
        }
        Missing(console: console, question: question)
        if case .level(let seen, let outline) = console.answers[question] {
            Text(seq == nil ? "as of seq \(seen), \(outline.whole.size) bytes" : "\(outline.whole.size) bytes")
                .tone(.secondary)
            if outline.whole.kind == .value {
                Text(outline.whole.text).code()
            } else {
                WindowList(
                    count: outline.whole.count, first: console.first, onMove: { console.send(event: .scroll($0)) }
                ) {
                    Entries(outline.entries, id: \.name) { entry in
                        Row {
                            Link(entry.name, to: .state(at: seq, path: path + [entry.name]))
                            Text(entry.text).code()
                            Link("why?", to: .why(path: path + [entry.name], before: seq.map { $0 + 1 }))
                        }
                    }
                }
            }
        }
    }
}

extension CBOROutline.Entry {
    /// The value if it is short, or how large it is.
    fileprivate var text: String {
        if !value.isEmpty { return JSONText.onOneLine(JSONText.document(value), 200) }
        return kind == .value ? "\(size) bytes" : "\(kind) of \(count), \(size) bytes"
    }
}

/// The transitions that changed a part of the state.
private struct WhyView: View {
    let console: ConsoleContext
    let path: [String]
    let before: UInt64?

    var body: [Element] {
        let question = ConsoleQuestion.changes(of: path, before: before)
        Row {
            Heading("Why \(StatePath.text(of: path)) is so", level: 2)
            Link("the state", to: .state(at: before.flatMap { $0 > 0 ? $0 - 1 : nil }, path: path))
        }
        Missing(console: console, question: question)
        if case .changes(let changes, let from, let reason) = console.answers[question] {
            List(changes, id: \.event.position) { change in
                Row {
                    Link("\(change.event.seq)", to: .transition(change.event.seq))
                    Text(value(change)).code().strong()
                    Text(change.event.sender).tone(.accent)
                    Text(JSONText.onOneLine(change.event.event.map(JSONText.document) ?? "", 200)).code().tone(
                        .secondary)
                }
            }
            if from == 0 {
                Text("no other transition changed it").tone(.secondary)
            } else {
                Text("transitions up to \(from) were not compared\(reason.map { ": \($0)" } ?? "")").tone(.secondary)
                if reason == nil { Link("Older", to: .why(path: path, before: from + 1)) }
            }
        }
    }

    private func value(_ change: PartChange) -> String {
        if change.valueBytes == 0 { return "absent" }
        return change.value.isEmpty
            ? "\(change.valueBytes) bytes" : JSONText.onOneLine(JSONText.document(change.value), 200)
    }
}

/// A lane for each of the newest effects: when it waited, when it ran, and on which worker.
private struct EffectsView: View {
    let console: ConsoleContext

    var body: [Element] {
        let question = ConsoleQuestion.found(HistoryFilter(max: 1000), before: nil)
        Row {
            Heading("Effects of the newest records", level: 2)
            Button("Read again", action: console.action(for: .reload))
        }
        Missing(console: console, question: question)
        if case .records(let records, _) = console.answers[question] {
            LanesView(records: records.reversed(), live: console.state.live, lanesMax: 100)
        }
        Heading("Live effects", level: 2)
        EffectsList(console: console, question: .effects(nil), none: "the state asks for no effect")
    }
}

/// Lanes on one scale of time.
private struct LanesView: View {
    let records: [HistoryRecord]
    let live: Set<EffectID>?
    let lanesMax: Int

    var body: [Element] {
        let times = records.compactMap(\.time)
        let lanes = EffectLane.lanes(of: records, live: live).suffix(lanesMax)
        let start = lanes.compactMap(\.spans.first?.from).min() ?? times.first ?? 0
        let end = times.last ?? start
        if lanes.isEmpty {
            Text("there are none").tone(.secondary)
        } else {
            Text("· waits, █ runs; each worker has a colour; \(Duration.milliseconds(end - start).text) in all").tone(
                .secondary)
        }
        List(lanes, id: \.effect) { lane in
            let spent = lane.spent(until: end)
            Row {
                EffectLink(effect: "\(lane.effect)")
                Row {
                    for (place, block) in lane.blocks(from: start, to: end, columns: 60).enumerated() {
                        Text(block.text).tone(block.tone).id(place)
                    }
                }.code()
                Text(
                    "waited \(Duration.milliseconds(spent.waiting).text), ran \(Duration.milliseconds(spent.running).text)"
                )
                let attempts = "\(lane.attempts) \(lane.attempts == 1 ? "attempt" : "attempts")"
                Text("\(attempts), \(lane.end ?? (live == nil ? "it may have ended" : "no end yet"))")
                    .tone(.secondary)
            }
        }
    }
}

/// The records of one effect, and its lane.
private struct EffectView: View {
    let console: ConsoleContext
    let effect: EffectID

    var body: [Element] {
        let question = ConsoleQuestion.found(HistoryFilter(effect: "\(effect)", max: 1000), before: nil)
        Row {
            Heading("Effect \(effect)", level: 2)
            if effect.seq > .initial {
                Text("asked for by")
                Link("transition \(effect.seq)", to: .transition(effect.seq.value))
            } else {
                Text("asked for by the initial state")
            }
            Button("Read again", action: console.action(for: .reload))
        }
        Missing(console: console, question: question)
        if case .records(let records, let next) = console.answers[question] {
            LanesView(records: records.reversed(), live: console.state.live, lanesMax: 1)
            List(records.reversed(), id: \.position) { record in
                Row {
                    Link("\(record.seq)", to: .transition(max(record.seq, 1)))
                    Text(record.kind).strong()
                    Text(JSONText.onOneLine(record.line(isJSON: false), 400)).code()
                }
            }
            if next != nil { Text("older records were not searched").tone(.secondary) }
        }
    }
}
