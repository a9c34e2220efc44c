/// What is inside a keyed container of the standard library: one object, whose class only the library knows.
///
/// For each keyed container the library allocates such a box, after looking up its generic type and its conformances:
/// more work than coding a small struct's fields. So boxes are kept, with the place where a handle finds what it stands
/// for now. A box is used again only when nobody else refers to it, so that a container that was kept keeps its own.
class KeyedBox {
    private init() {}

    /// How many boxes are kept for a type of keys: as deep as values of one type are usually nested in each other.
    static var boxesMax: Int { 4 }

    /// The box of a container; the container stays valid as long as the box lives.
    @inline(__always)
    static func of<Container>(_ container: Container) -> KeyedBox? {
        guard MemoryLayout<Container>.size == MemoryLayout<KeyedBox>.size else { return nil }
        return unsafeBitCast(container, to: Unmanaged<KeyedBox>.self).takeUnretainedValue()
    }

    /// The value that a box was made `of`. No method: the object is of another class.
    @inline(__always)
    static func value<Value>(_ type: Value.Type, of box: KeyedBox) -> Value { unsafeBitCast(box, to: type) }
}

/// Makes containers of their boxes.
///
/// The type of a container is a generic one of another library: where it is not known at compile time, each function
/// that hands one on looks its description up, which costs more than all else here. An object of this class has it in
/// its own description.
class KeyedMaker {
    /// Makes the maker of a type of containers.
    static func of<Container>(_ type: Container.Type) -> KeyedMaker { Typed<Container>() }

    /// - Parameter type: the type that the maker was made for.
    @inline(__always)
    func container<Container>(_ type: Container.Type, _ box: UnsafePointer<KeyedBox>) -> Container {
        unsafeDowncast(self, to: Typed<Container>.self).make(box)
    }

    final class Typed<Container>: KeyedMaker {
        @inline(never)
        func make(_ box: UnsafePointer<KeyedBox>) -> Container {
            UnsafeRawPointer(box).assumingMemoryBound(to: Container.self).pointee
        }
    }
}
