// Unsafe: entries of the table are never moved; the spare one belongs to the same coding state.

/// What the coder does with a type: lets it code itself, writes it at once, or takes it apart as a collection.
///
/// Finding out takes a search through the program's protocol conformances, which costs more than coding a small value;
/// the answer never changes for a type. So each coding state keeps the answers in a ``TypeTable``.
struct CodingShape {
    enum Kind: UInt8 {
        /// Codes itself, through `Codable`.
        case plain
        /// Codes itself, through ``WireCodable``.
        case wire
        /// A Bool, an integer or a float of the standard library.
        case scalar
        /// An Array, Set, Dictionary or Optional, which the coder takes apart itself.
        case collection
    }

    let kind: Kind
    let wire: (any WireCodable.Type)?
    /// The ``TypedCoding`` of the type, if it codes itself through ``WireCodable``.
    let wireCoding: AnyObject?
    let encodable: (any CBORCollectionEncodable.Type)?
    let decodable: (any CBORCollectionDecodable.Type)?

    @inline(never)
    init<T>(_ type: T.Type) {
        wire = type as? any WireCodable.Type
        wireCoding = wire.map { TypedCoding<T>.of($0) }
        encodable = type as? any CBORCollectionEncodable.Type
        decodable = type as? any CBORCollectionDecodable.Type
        if Self.scalars.contains(ObjectIdentifier(type)) {
            kind = .scalar
        } else if wire != nil {
            kind = .wire
        } else if type is any CBORCollection.Type {
            kind = .collection
        } else {
            kind = .plain
        }
    }

    /// The shape of a type, from the table or for it. Without room in the table it is found anew each time, in `spare`.
    @inline(__always)
    static func of<T>(
        _ type: T.Type, _ table: TypeTable<CodingShape>, _ spare: UnsafeMutablePointer<CodingShape>
    ) -> UnsafeMutablePointer<CodingShape> {
        unsafe table.entry(type) ?? found(type, table, spare)
    }

    @inline(never)
    private static func found<T>(
        _ type: T.Type, _ table: TypeTable<CodingShape>, _ spare: UnsafeMutablePointer<CodingShape>
    ) -> UnsafeMutablePointer<CodingShape> {
        let shape = CodingShape(type)
        if let place = unsafe table.add(type, shape) { return unsafe place }
        unsafe spare.pointee = shape
        return unsafe spare
    }

    private static let scalars: Set<ObjectIdentifier> = [
        ObjectIdentifier(Bool.self), ObjectIdentifier(Double.self), ObjectIdentifier(Float.self),
        ObjectIdentifier(UInt8.self), ObjectIdentifier(UInt16.self), ObjectIdentifier(UInt32.self),
        ObjectIdentifier(UInt64.self), ObjectIdentifier(UInt.self), ObjectIdentifier(Int8.self),
        ObjectIdentifier(Int16.self), ObjectIdentifier(Int32.self), ObjectIdentifier(Int64.self),
        ObjectIdentifier(Int.self), ObjectIdentifier(String.self),
    ]
}

/// The collections that the coder takes apart itself; a mark that is looked for once per type.
protocol CBORCollection {}

extension Array: CBORCollection {}
extension Set: CBORCollection {}
extension Dictionary: CBORCollection {}
extension Optional: CBORCollection {}
