import CBOR
import LoopCore
package import LoopWire
package import ZMQ

/// Asks one reducer of any loop an operator's questions, one after another. Blocks; for tools.
///
///     var call = try AdministrationCall(reducer: "tcp://127.0.0.1:7710")
///     let schedules = try call.ask(.schedules, \.schedules, within: .seconds(2))
package struct AdministrationCall: ~Copyable {
    /// The largest answer that is accepted, in bytes.
    package static let answerBytesMax = 256 << 20

    private let reducer: ReducerAddress
    private let context: ZMQContext
    /// How often standbys may redirect a question.
    private static let redirectsMax = 3
    /// How long to look for the leader among several reducers.
    private static let searchLimit = Duration.seconds(5)
    /// The address of the present connection.
    private var place: ReducerAddress
    private var dealer: DialledSocket
    private var polls: PollSet

    /// - Parameters:
    ///   - reducer: the reducer, which need not run yet. If it has several addresses, the leader is asked.
    ///   - context: the context of the sockets, or nil for one of this call's own.
    /// - Throws: `ZMQError` if a system call fails.
    package init(reducer: ReducerAddress, context: ZMQContext? = nil) throws {
        let context = try context ?? ZMQContext()
        let dealer = try DialledSocket(reducer.each[0].reachable(), .questions, in: context)
        var polls = PollSet()
        _ = dealer.add(to: &polls)
        self.reducer = reducer
        self.context = context
        self.dealer = dealer
        self.polls = polls
        place = reducer.each[0]
    }

    /// Asks, and waits for the whole answer. A question is sent once, because what it does must not be done twice.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - read: takes the contents of the answer, such as `\.schedules`.
    ///   - limit: how long the reducer may be silent, before the answer and between its parts. The search for a leader counts
    ///     towards it, and takes at most five seconds.
    ///   - onSilence: called after 2 s, 10 s, a minute and ten minutes if nothing has come yet.
    /// - Throws: ``AdministrationError``, or the error of a socket.
    package mutating func ask<Answer>(
        _ request: AdministrationRequest, _ read: (AdministrationAnswer) -> Answer?, within limit: Duration,
        onSilence: (Duration) -> Void = { _ in }
    ) throws -> Answer {
        let answer = try exchange(request, within: limit, onSilence: onSilence)
        if case .refused(let why) = answer { throw AdministrationError.refused(why) }
        guard let answer = read(answer) else { throw AdministrationError.unexpected }
        return answer
    }

    /// Sends any request, and waits for the whole answer of any kind.
    mutating func exchange(
        _ request: AdministrationRequest, within limit: Duration, onSilence: (Duration) -> Void = { _ in }
    ) throws -> AdministrationAnswer {
        let asked = SystemClock.monotonic
        if reducer.endpoints.count > 1 {
            try dial(
                StatusProbe.leader(of: reducer, within: min(limit, Self.searchLimit), context: context).address)
        }
        var answer = AnswerAssembly(request: SystemRandom.uint64())
        let document = try CBOR.encode(request)
        let question = ToReducer.administration(request: answer.request, document[...]).bytes(loop: LoopID(value: 0))
        _ = try dealer.send(question)
        var redirectsCount = 0
        var message = Message()
        var deadline = asked + limit
        var notices = [2, 10, 60, 600].map(Duration.seconds)[...]
        while true {
            let now = SystemClock.monotonic
            try dealer.readEventsIfAdmitted(at: now)
            guard now < deadline else {
                throw AdministrationError.silent(
                    reducer, limit, parts: answer.partsTaken, of: answer.partsInAll, because: dealer.explanation)
            }
            if let notice = notices.first, now >= asked + notice {
                onSilence(notice)
                notices.removeFirst()
            }
            let next = notices.first.map { min(deadline, asked + $0) } ?? deadline
            try polls.wait(milliseconds: SystemClock.milliseconds(from: now, until: min(next, dealer.deadline)))
            while try dealer.socket.receive(into: &message) {
                switch try Self.reply(in: message.copy()) {
                case .part(let part):
                    switch try answer.take(part) {
                    case .foreign: break
                    case .more:
                        deadline = SystemClock.monotonic + limit
                        notices = []
                    case .whole(let bytes): return try Self.answer(bytes)
                    }
                case .redirect(let leader):
                    // A standby has done nothing with the question, so that it still takes effect only once.
                    redirectsCount += 1
                    guard redirectsCount <= Self.redirectsMax else {
                        throw AdministrationError.refused("standbys send the question from one to the other; ask again")
                    }
                    try dial(reducer.other(at: leader))
                    _ = try dealer.send(question)
                case .noLeader:
                    let why = AddressLook.text(
                        at: place, statusWithin: max(AddressLook.limit, deadline - SystemClock.monotonic))
                    throw AdministrationError.refused("no reducer leads yet: \(why); ask again")
                case nil: continue
                }
            }
        }
    }

    /// Connects to the address to which the next question goes.
    private mutating func dial(_ address: ReducerAddress) throws {
        let new = try DialledSocket(address.reachable(), .questions, in: context)
        var polls = PollSet()
        _ = new.add(to: &polls)
        self.dealer = new
        self.polls = polls
        place = address
    }

    /// A reducer's reply to a question.
    private enum Reply {
        case part(AnswerPart)
        /// A standby names the leader's address.
        case redirect(String)
        /// A standby knows no leader.
        case noLeader
    }

    /// Reads what a frame says about the question, or returns nil if it says something else.
    private static func reply(in frame: [UInt8]) throws(AdministrationError) -> Reply? {
        if let version = Wire.foreignVersion(of: frame[...]) { throw .version(version) }
        do {
            switch try PeerFrame(bytes: frame[...]).message {
            case .answer(let part): return .part(part)
            case .redirect(let leader): return .redirect(leader)
            case .noLeader: return .noLeader
            case .refused(let refused, _): throw AdministrationError.refused(refused.description)
            default: return nil
            }
        } catch let error as AdministrationError {
            throw error
        } catch {
            throw .unreadable("\(error)")
        }
    }

    private static func answer(_ bytes: [UInt8]) throws(AdministrationError) -> AdministrationAnswer {
        do {
            return try CBOR.decode(AdministrationAnswer.self, from: bytes)
        } catch {
            throw .unreadable("\(error)")
        }
    }
}

/// Why an operator's question has no answer.
package enum AdministrationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nothing came for this long, before the answer or after some of its parts.
    case silent(ReducerAddress, Duration, parts: UInt32, of: UInt32, because: String? = nil)
    /// A part came out of order, or the number of parts changed.
    case outOfOrder(part: UInt32, expected: UInt32)
    /// The answer is larger than the limit.
    case tooLarge(limit: Int)
    /// The reducer speaks another version of the protocol.
    case version(UInt8)
    /// The reply cannot be read as an answer.
    case unreadable(String)
    /// The answer is of another kind than the question.
    case unexpected
    /// The reducer refuses; the text says why.
    case refused(String)

    /// One line for people: why there is no answer.
    package var description: String {
        switch self {
        case .silent(let reducer, let limit, 0, _, let why):
            "no reducer answered at \(reducer) within \(limit)\(why.map { ": \($0)" } ?? "; is it running?")"
                + " (--timeout gives it longer)"
        case .silent(let reducer, let limit, let parts, let all, _):
            "\(reducer) sent \(parts) of the \(all) parts of its answer, then nothing for \(limit); ask again"
        case .outOfOrder(let part, let expected):
            "part \(part) of the answer came where part \(expected) was due: some were lost on the way; ask again"
        case .tooLarge(let limit):
            "the answer is larger than \(limit >> 20) MiB; ask for less of it"
        case .version(let version):
            "the reducer speaks version \(version) of the protocol, this program version \(Wire.version);"
                + " use the same release"
        case .unreadable(let why):
            "the answer cannot be read: \(why); use the same release"
        case .unexpected:
            "the reducer answered something else than was asked; use the same release"
        case .refused(let why): "refused: \(why)"
        }
    }
}

/// Assembles the parts of one answer in their order, up to a limit of bytes.
struct AnswerAssembly {
    enum Taken: Equatable {
        /// The part belongs to another question.
        case foreign
        /// More parts follow.
        case more
        case whole([UInt8])
    }

    let request: UInt64
    private let bytesMax: Int
    private(set) var partsTaken: UInt32 = 0
    /// 0 until the first part.
    private(set) var partsInAll: UInt32 = 0
    private var bytes: [UInt8] = []

    init(request: UInt64, bytesMax: Int = AdministrationCall.answerBytesMax) {
        self.request = request
        self.bytesMax = bytesMax
    }

    mutating func take(_ part: AnswerPart) throws(AdministrationError) -> Taken {
        guard part.request == request else { return .foreign }
        guard part.part == partsTaken, partsTaken == 0 || part.parts == partsInAll else {
            throw .outOfOrder(part: part.part, expected: partsTaken)
        }
        guard part.bytes.count <= bytesMax - bytes.count else { throw .tooLarge(limit: bytesMax) }
        partsInAll = part.parts
        partsTaken += 1
        bytes += part.bytes
        return partsTaken == partsInAll ? .whole(bytes) : .more
    }
}
