import LoopCore
import LoopNode
import LoopWire

/// What one browser looks at: a place, and the reducer's answers that it needs.
struct ConsoleState: Sendable {
    /// How many rows of a long list are on the page.
    static let windowRows = 100

    private(set) var place = ConsolePlace.now
    /// The answers to the questions of this place.
    private(set) var answers: [ConsoleQuestion: ConsoleAnswer] = [:]
    /// Changes when answers that do not change by themselves are asked for again.
    private var round = 0
    /// Changes when live answers are asked for again.
    private var beat = 0
    /// The live questions that were answered since the last beat.
    private var beaten: Set<ConsoleQuestion> = []
    /// The filter that is being typed.
    private(set) var draft = ConsoleFilter()
    /// The seq or path that is being typed.
    private(set) var wanted = ""
    /// The event that is being typed, to be tried.
    private(set) var trial = ""
    /// The newest seq that the timeline shows at its top.
    private(set) var top: UInt64 = 0
    /// The number of the first row of the window on the page.
    private(set) var first = 0
    /// The timeline that was left last, and the first row of its window.
    private var left: (place: ConsolePlace, first: Int)?
    /// The events of the timeline by seq, as far as they are near the window.
    private(set) var events: [UInt64: HistoryRecord] = [:]
    /// The position before which a filtered list begins, and those of the pages before it.
    private(set) var before: [UInt64] = []
    /// The actions that were requested, by number, and the one that waits to be confirmed.
    private(set) var orders: [Int: Order] = [:]
    private(set) var unconfirmed: AdministrationRequest?
    private var ordersCount = 0
    /// What the last action or a mistake gave, for people.
    private(set) var notice: String?

    /// What happens to the console.
    enum Event: Sendable {
        /// A link, a button or the address of the page names a place.
        case visit(String)
        case answer(ConsoleQuestion, ConsoleAnswer)
        /// It is time to ask for live answers again.
        case beat
        /// The first row that should be on the page.
        case scroll(Int)
        case type(ConsoleFilter)
        case filter
        case want(String)
        case go
        /// An event to try, as it is typed, and when it is complete.
        case typeTrial(String)
        case tryEvent
        /// The next page of a filtered list, or the first.
        case older(UInt64)
        case newest
        case reload
        case order(AdministrationRequest, isConfirmed: Bool)
        case ordered(Int, String)
    }

    mutating func apply(_ event: Event) {
        switch event {
        case .visit(let text): visit(text)
        case .answer(let question, let answer): take(question, answer)
        case .beat:
            beat += 1
            beaten = []
        case .scroll(let row): first = max(0, row)
        case .type(let filter): draft = filter
        case .filter: visit(ConsolePlace.timeline(draft).text)
        case .want(let text): wanted = text
        case .go: go()
        case .typeTrial(let text): trial = text
        case .tryEvent: tryEvent()
        case .older(let position): before.append(position)
        case .newest:
            (first, before) = (0, [])
            if let newest { top = newest }
        case .reload: round += 1
        case .order(let request, let isConfirmed): order(request, isConfirmed)
        case .ordered(let number, let result):
            orders[number] = nil
            notice = result
            beat += 1
        }
        let needed = Set(questions)
        answers = answers.filter { needed.contains($0.key) }
    }

    // MARK: Places

    private mutating func visit(_ text: String) {
        guard let next = ConsolePlace(text) else {
            notice = "there is no place \"\(text)\" in this console"
            return
        }
        (notice, unconfirmed) = (nil, nil)
        guard next != place else { return }
        if case .timeline = place { left = (place, first) }
        place = next
        (first, before, events, wanted) = (0, [], [:], "")
        if case .timeline(let filter) = next {
            draft = filter
            // A person who comes back finds the timeline as it was.
            if let left, left.place == next { first = left.first }
            if first == 0 { top = newest ?? 0 }
        }
    }

    /// A seq, the ID of an effect, or a path in the state.
    private mutating func go() {
        let text = String(wanted.filter { !$0.isWhitespace })
        if let seq = UInt64(text), seq > 0 { return visit(ConsolePlace.transition(seq).text) }
        if let effect = EffectID(text) { return visit(ConsolePlace.effect(effect).text) }
        guard let path = StatePath.steps(of: text) else {
            notice = "\"\(wanted)\" is no seq, effect or path; write 17, 0.17.2 or orders.o-17"
            return
        }
        visit(ConsolePlace.state(at: shownSeq, path: path).text)
    }

    private mutating func tryEvent() {
        guard case .whatIf(var question) = place, trial.contains(where: { !$0.isWhitespace }) else { return }
        question.events.append(trial)
        question.isTest = false
        visit(ConsolePlace.whatIf(question).text)
        trial = ""
    }

    /// The seq of the state that is shown, or nil for the newest.
    private var shownSeq: UInt64? { if case .state(let seq, _) = place { seq } else { nil } }

    private mutating func order(_ request: AdministrationRequest, _ isConfirmed: Bool) {
        guard isConfirmed else {
            unconfirmed = request
            return
        }
        (unconfirmed, notice) = (nil, nil)
        ordersCount += 1
        orders[ordersCount] = Order(number: ordersCount, request: request)
    }

    // MARK: Questions and answers

    /// What the place needs to know.
    var questions: [ConsoleQuestion] {
        switch place {
        case .now: return [.members, .effects(.waiting), .effects(.parked), .quarantine]
        case .timeline(let filter) where filter.isEmpty:
            return [.members, .oldest] + (window.map { [.rows($0)] } ?? [])
        case .timeline(let filter):
            guard let selection = filter.selection(max: Self.windowRows) else { return [.members] }
            return [.members, .found(selection, before: before.last)]
        case .transition(let seq): return [.members, .transition(seq)]
        case .state(let seq, let path): return [.members, .level(at: seq, path: path, from: first)]
        case .why(let path, let before): return [.members, .changes(of: path, before: before)]
        case .whatIf(let question): return [.members, .examples, .whatIf(question)]
        case .effects: return [.members, .effects(nil), .found(HistoryFilter(max: 1000), before: nil)]
        case .effect(let effect):
            return [.members, .effects(nil), .found(HistoryFilter(effect: "\(effect)", max: 1000), before: nil)]
        }
    }

    /// The effects that are live, or nil if not all of them are known.
    var live: Set<EffectID>? {
        guard case .effects(let effects, 0) = answers[.effects(nil)] else { return nil }
        return Set(effects.compactMap { EffectID($0.effect) })
    }

    /// What is asked for now. A question with another number is asked again.
    var asked: [ConsoleQuestion: Asked] {
        Dictionary(uniqueKeysWithValues: questions.map { ($0, Asked(question: $0, number: $0.isLive ? beat : round)) })
    }

    /// The number of the beat after which live answers are asked for again, or nil while one of them is missing.
    var pause: Int? { questions.allSatisfy { !$0.isLive || beaten.contains($0) } ? beat : nil }

    /// A question, and how often it was asked before.
    struct Asked: Hashable, Sendable {
        let question: ConsoleQuestion
        let number: Int
    }

    /// An action that was requested.
    struct Order: Equatable, Sendable {
        let number: Int
        let request: AdministrationRequest
    }

    private mutating func take(_ question: ConsoleQuestion, _ answer: ConsoleAnswer) {
        if question.isLive { beaten.insert(question) }
        answers[question] = answer
        if case .records(let records, _) = answer, case .rows = question {
            for record in records { events[record.seq] = record }
            let near = (window?.lowerBound ?? 0) - min(window?.lowerBound ?? 0, UInt64(Self.windowRows))
            let end = (window?.upperBound ?? 0) + UInt64(Self.windowRows)
            events = events.filter { (near...end).contains($0.key) }
        }
        // The top follows the newest transition only while it is on the page.
        if case .timeline = place, first == 0, let newest { top = max(top, newest) }
    }

    // MARK: What is known

    /// The reducers that have answered, the leader first, or nil if none has.
    var members: [StatusProbe.Member]? {
        if case .members(let members, _) = answers[.members], !members.isEmpty { members } else { nil }
    }

    /// The reducers that have not answered while others have.
    var silent: [SilentReducer] { if case .members(_, let silent) = answers[.members] { silent } else { [] } }

    /// The newest seq.
    var newest: UInt64? { members.map { $0[0].report.seq } }

    /// The oldest seq that was not trimmed.
    var oldest: UInt64 { if case .oldest(let seq) = answers[.oldest] { max(seq, 1) } else { 1 } }

    /// How many rows the timeline has.
    var rowsCount: Int { top >= oldest ? Int(clamping: top - oldest + 1) : 0 }

    /// The seqs of the rows on the page, or nil if there are none.
    var window: ClosedRange<UInt64>? {
        guard rowsCount > 0 else { return nil }
        let last = top - UInt64(min(first, rowsCount - 1))
        return (last - min(last - oldest, UInt64(Self.windowRows - 1)))...last
    }

    /// Why a question has no answer, or nil if it has one or is under way.
    func failure(of question: ConsoleQuestion) -> String? {
        if case .failed(let why) = answers[question] { why } else { nil }
    }
}

extension ConsoleState {
    /// The feedbacks of a console: they ask a reducer, again after a second if the answer is live, and have actions done.
    static func feedbacks(_ asker: ConsoleAsker, every pause: Duration) -> [Feedback<ConsoleState, Event>] {
        [
            .react("questions", requests: { Set($0.asked.values) }) { (asked: Asked) in
                .task { .answer(asked.question, await asker.answer(asked.question)) }
            },
            .react("pause", request: { $0.pause }) { (_: Int) in
                .task {
                    try await Task.sleep(for: pause)
                    return .beat
                }
            },
            .react("orders", requests: { $0.orders }) { (order: Order) in
                .task { .ordered(order.number, await asker.order(order.request)) }
            },
        ]
    }
}
