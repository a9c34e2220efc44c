// Unsafe: a container's bits are compared with the reference that reflection finds in it before they are used as one.

/// The object inside a keyed container of the standard library, and the container made of it.
///
/// For each keyed container the library allocates an object, after a look-up of its generic type and its conformances. That is more
/// work than coding a small struct's fields. So the coder keeps these objects, and reuses one when nothing else refers to it.
///
/// Only this file relies on the layout of a keyed container, which is not documented. It checks itself: an object is kept only if
/// reflection shows that the container is one reference to it, and the container's bits are that reference. Otherwise, and in every
/// build with `LOOP_PORTABLE=1`, no object is kept, and each container is a new one.
package enum KeptContainer {
    /// An object whose class only the library knows. The only use of it is to check for other references.
    package class Object {
        private init() {}
    }

    /// The number of objects that are kept for a type of keys: as deep as values of one type are usually nested.
    static var countMax: Int { 4 }

    /// The object of a container, or nil if the container is not exactly one reference to it.
    package static func object<Container>(of container: Container) -> Object? {
        #if PORTABLE
            return nil
        #else
            let parts = Mirror(reflecting: container).children
            guard MemoryLayout<Container>.size == MemoryLayout<UInt>.size, parts.count == 1,
                let object = parts.first.map({ $0.value as AnyObject }),
                unsafe unsafeBitCast(container, to: UInt.self)
                    == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
            else { return nil }
            return unsafe unsafeBitCast(container, to: Unmanaged<Object>.self).takeUnretainedValue()
        #endif
    }

    /// Makes containers from their objects.
    ///
    /// The type of a container is a generic type of another library. If it is not known at compile time, each function that passes
    /// one on looks up its metadata, which costs more than all else here. An object of this class has it in its own metadata.
    class Maker {
        /// Makes the maker of a type of containers.
        static func of<Container>(_ type: Container.Type) -> Maker { Typed<Container>() }

        /// - Parameters:
        ///   - type: the type that the maker was made for.
        ///   - object: the `object(of:)` a container of this type.
        @inline(__always)
        func container<Container>(_ type: Container.Type, _ object: UnsafePointer<Object>) -> Container {
            unsafe unsafeDowncast(self, to: Typed<Container>.self).make(object)
        }
    }

    private final class Typed<Container>: Maker {
        @inline(never)
        func make(_ object: UnsafePointer<Object>) -> Container {
            unsafe UnsafeRawPointer(object).assumingMemoryBound(to: Container.self).pointee
        }
    }
}
