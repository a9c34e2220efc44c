import CBOR

/// The message of a peer to which an answer belongs, because a peer may have several open questions over one connection.
///
/// | bytes | field |
/// |---|---|
/// | 1 | verb, as in ``ToReducer``; 0 for a batch, a subscription or a frame of another version |
/// | 8 | the transfer of a state request, or the number of an administration request; else 0 |
package struct Question: Equatable, Sendable {
    /// The verb of the message, or 0 if it came over another socket, or could not be read.
    package var verb: UInt8
    /// The number that the peer gave the message, or 0 if such a message has none.
    package var id: UInt64

    /// Creates the name of a message from its parts.
    package init(verb: UInt8, id: UInt64 = 0) {
        self.verb = verb
        self.id = id
    }

    /// A batch, a subscription, or a frame of another version.
    package static let none = Question(verb: 0)
    /// A hello.
    package static let hello = Question(verb: 1)
    /// A join request.
    package static let join = Question(verb: 2)
    /// A request for a part of the state.
    package static func state(transfer: UInt64) -> Question { Question(verb: 7, id: transfer) }

    /// Whether an observer asked the question, and not the peer whose connection it uses.
    package var isOfAnObserver: Bool { verb == 7 }
    /// Whether a tool asked the question, and neither of these.
    package var isOfATool: Bool { verb == 9 || verb == 10 }

    init(from reader: inout ByteReader) throws(WireError) {
        verb = try reader.u8()
        id = try reader.u64()
    }

    func write(to writer: inout ByteWriter) {
        writer.u8(verb)
        writer.u64(id)
    }
}

extension ToReducer {
    /// The question by which answers to this message name it.
    package var question: Question {
        switch self {
        case .stateRequest(let transfer, _, _, _, _): Question(verb: verb, id: transfer)
        case .administration(let request, _): Question(verb: verb, id: request)
        case .hello, .join, .claim, .heartbeat, .assignmentsRequest, .outcomesRequest, .goodbye, .statusRequest,
            .progress:
            Question(verb: verb)
        }
    }
}
