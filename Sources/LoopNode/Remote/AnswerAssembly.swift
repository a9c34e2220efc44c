import LoopWire

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
