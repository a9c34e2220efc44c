// A made-up loop and what is done with it, as a value that prints as the Swift that makes it.

/// The state of every made-up loop: three cells with numbers from 0 to 3.
struct Cells: Hashable, Sendable, CustomStringConvertible {
    private var values: [Int]

    init(_ first: Int, _ second: Int, _ third: Int) { values = [first, second, third] }

    subscript(cell: Int) -> Int {
        get { values[cell] }
        set { values[cell] = newValue }
    }

    /// The cells one place further, as the part sees them.
    var rotated: Cells { Cells(self[1], self[2], self[0]) }

    var description: String { "Cells(\(self[0]), \(self[1]), \(self[2]))" }
}

/// The event of every made-up loop: a number is put into a cell.
struct Put: Hashable, Sendable, CustomStringConvertible {
    var cell: Int
    var value: Int

    init(_ cell: Int, _ value: Int) { (self.cell, self.value) = (cell, value) }

    var description: String { "Put(\(cell), \(value))" }
}

/// What a query sees of a state; nothing where that is 0.
enum Lens: Hashable, Sendable {
    case cell(Int)
    case sum

    func value(_ cells: Cells) -> Int? {
        let value =
            switch self {
            case .cell(let cell): cells[cell]
            case .sum: cells[0] + cells[1] + cells[2]
            }
        return value == 0 ? nil : value
    }
}

/// The forms of feedbacks. Payloads of events are those that go to one cell, predicates hold where a lens sees two or more.
enum Form: Hashable, Sendable {
    case lensing(Lens)
    case skippingRepeated(Lens)
    case firstValueAfterNil(Lens)
    case whenBecomesTrue(Lens)
    case whileTrue(Lens)
    case everyState
    case extracting(Int)
    case extractingAndKeeping(Int)
    case skippingRepeatedEvents(Int)
    case skippingRepeatedEventsAndKeeping(Int)
    case middleware
    /// Keys are the cells that are not empty, requests their values.
    case each
    /// The values in the cells, each once.
    case set
    case source, custom, input
}

/// How a feedback of a part is made one of the whole; the first in a list is the innermost.
enum Modifier: Hashable, Sendable {
    /// The part is the rotated cells; the events of the whole's cell 0 are foreign.
    case part
    /// The part is there while a cell is not empty.
    case present(Int)
    /// The part is there while a cell is not empty, by `optional()`.
    case optional(Int)
    /// Attached while a cell is not empty.
    case connected(Int)
    /// Sees no events; what it sends has its value replaced by 3 less the value.
    case mapped
}

/// What an effect does.
enum Body: Hashable, Sendable {
    /// It sends these when it starts, and completes.
    case events([Put])
    /// It does what the steps say, and does not heed its cancellation.
    case task
}

struct ModelFeedback: Hashable, Sendable {
    var form: Form
    var body: Body
    var modifiers: [Modifier] = []
    /// How many attempts may fail.
    var attempts = 1
    /// Whether attempts have a time limit.
    var isLimited = false
    /// The event of an effect that has failed for good.
    var failing: Put?
    var concurrency: Int?

    init(
        _ form: Form, _ body: Body, modifiers: [Modifier] = [], attempts: Int = 1, isLimited: Bool = false,
        failing: Put? = nil, concurrency: Int? = nil
    ) {
        (self.form, self.body, self.modifiers) = (form, body, modifiers)
        (self.attempts, self.isLimited) = (attempts, isLimited)
        (self.failing, self.concurrency) = (failing, concurrency)
    }
}

/// What is done from inside of the loop.
struct Reaction: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        /// The reducer, when it has this event.
        case reducing(Put)
        /// The closure that makes an effect of this feedback.
        case starting(Int)
    }

    enum Deed: Hashable, Sendable {
        case send(Put)
        case stop
        case subscribe
        /// A send on behalf of a running effect: of those that a feedback has started, a number before the last.
        case sendAs(Int, back: Int, Put)
    }

    var place: Place
    var deed: Deed

    init(_ place: Place, _ deed: Deed) { (self.place, self.deed) = (place, deed) }
}

/// What is done from outside.
enum Step: Hashable, Sendable {
    enum Deed: Hashable, Sendable {
        case send([Put])
        case confirm(Put)
        case complete
        case fail
        case takeUpdate
    }

    case send(Put)
    case mutate(Int, Int)
    case subscribe
    /// A subscriber takes a state and answers it with an event.
    case read(Int, Put)
    /// An effect does something: of those that a feedback has started, a number before the last.
    case effect(Int, back: Int, Deed)
    case custom(Int, Put)
    case input(Int, Put)
    /// It becomes the time of the next retry or time limit.
    case advance
    case retryParked(Int)
    case stop
}

struct ModelCase: Hashable, Sendable {
    var initial = Cells(0, 0, 0)
    var feedbacks: [ModelFeedback]
    var reactions: [Reaction] = []
    var steps: [Step]

    init(initial: Cells = Cells(0, 0, 0), feedbacks: [ModelFeedback], reactions: [Reaction] = [], steps: [Step]) {
        (self.initial, self.feedbacks, self.reactions, self.steps) = (initial, feedbacks, reactions, steps)
    }

    /// Effects send at their start, and reactions happen, only while fewer events than this have been reduced.
    static let reductionsMax = 16
}
