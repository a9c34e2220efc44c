import Synchronization

/// What the coder does with a type: lets it code itself, writes it at once, or takes it apart as a collection.
///
/// Finding out takes a search through the program's protocol conformances, which costs as much as coding a small
/// value; the answer never changes for a type. So answers are kept, for the whole process, in a table of words that
/// hold the type's address and, in the low bits that alignment leaves free, the answer. A word is read and written
/// whole, an entry that was overtaken is found again: no lock is needed.
enum CodingShape: UInt {
    /// Codes itself.
    case plain = 1
    /// A Bool, an integer or a float of the standard library.
    case scalar = 2
    /// An Array, Set, Dictionary or Optional, which the coder takes apart itself.
    case collection = 3

    @inline(__always)
    static func of<T>(_ type: T.Type) -> CodingShape {
        let identity = UInt(bitPattern: ObjectIdentifier(type))
        let word = known.slots[slot(identity)].load(ordering: .relaxed)
        if word & ~7 == identity, let shape = CodingShape(rawValue: word & 7) { return shape }
        return find(type)
    }

    @inline(never)
    private static func find<T>(_ type: T.Type) -> CodingShape {
        let shape: CodingShape =
            if scalars.contains(ObjectIdentifier(type)) {
                .scalar
            } else if type is any CBORCollection.Type {
                .collection
            } else {
                .plain
            }
        let identity = UInt(bitPattern: ObjectIdentifier(type))
        if identity & 7 == 0 {
            known.slots[slot(identity)].store(identity | shape.rawValue, ordering: .relaxed)
        }
        return shape
    }

    private static let scalars: Set<ObjectIdentifier> = [
        ObjectIdentifier(Bool.self), ObjectIdentifier(Double.self), ObjectIdentifier(Float.self),
        ObjectIdentifier(UInt8.self), ObjectIdentifier(UInt16.self), ObjectIdentifier(UInt32.self),
        ObjectIdentifier(UInt64.self), ObjectIdentifier(UInt.self), ObjectIdentifier(Int8.self),
        ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self), ObjectIdentifier(Int64.self),
        ObjectIdentifier(Int.self), ObjectIdentifier(String.self),
    ]

    @inline(__always)
    private static func slot(_ identity: UInt) -> Int { Int((identity &* 0x9E37_79B9_7F4A_7C15) >> 54) }

    private static let known = Known()

    /// 1024 words that live as long as the process.
    private struct Known: @unchecked Sendable {
        let slots: UnsafeMutablePointer<Atomic<UInt>>

        init() {
            slots = .allocate(capacity: 1024)
            for index in 0..<1024 { (slots + index).initialize(to: Atomic(0)) }
        }
    }
}

/// The collections that the coder takes apart itself; a mark that is looked for once per type.
protocol CBORCollection {}

extension Array: CBORCollection {}
extension Set: CBORCollection {}
extension Dictionary: CBORCollection {}
extension Optional: CBORCollection {}
