// Unsafe: a container's bits are compared with the reference that reflection finds in it before they are used as one. Handles are never
// freed, and an object's handle changes only if nothing else refers to the object.

/// The object inside a keyed container of the standard library, and the container made of it.
///
/// For each keyed container the library allocates an object, after looking up its generic type: more work than coding a small
/// struct's fields. So the coder keeps up to four objects for a type, and uses one again when nothing else refers to it.
///
/// This file is the only code that relies on what a keyed container is made of, which is not documented. It checks itself: an object is
/// kept only if reflection says that the container is one reference to it, and the container's bits are that reference. Otherwise, and
/// everywhere in a build with `LOOP_PORTABLE=1`, no object is kept, and each container is a new one.
package class KeptObject {
    private init() {}

    /// The object of a container, or nil if the container is anything else than a reference to one.
    package static func object<Container>(of container: Container) -> KeptObject? {
        #if PORTABLE
            return nil
        #else
            let parts = Mirror(reflecting: container).children
            guard MemoryLayout<Container>.size == MemoryLayout<UInt>.size, parts.count == 1,
                let object = parts.first.map({ $0.value as AnyObject }),
                unsafe unsafeBitCast(container, to: UInt.self)
                    == UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
            else { return nil }
            return unsafe unsafeBitCast(container, to: Unmanaged<KeptObject>.self).takeUnretainedValue()
        #endif
    }
}

/// The kept objects of a type, each with the handle that its container works on now.
@safe struct KeptObjects<Handle: BitwiseCopyable> {
    private static var countMax: Int { 4 }

    private let objects = UnsafeMutablePointer<KeptObject>.allocate(capacity: Self.countMax)
    private let handles = UnsafeMutablePointer<Handle>.allocate(capacity: Self.countMax)
    private var count = 0

    /// An object that nothing refers to. Its container works on this handle from now on.
    @inline(__always)
    func unused(for handle: Handle) -> UnsafePointer<KeptObject>? {
        for number in 0..<count where unsafe isKnownUniquelyReferenced(&objects[number]) {
            unsafe handles[number] = handle
            return unsafe UnsafePointer(objects + number)
        }
        return nil
    }

    /// Makes a container for a handle, and keeps its object if it can.
    mutating func new<Container>(for handle: Handle, _ make: (ContainerPlace<Handle>) -> Container) -> Container {
        if count < Self.countMax {
            let place = unsafe handles + count
            unsafe place.initialize(to: handle)
            let container = unsafe make(ContainerPlace(own: handle, kept: place))
            if let object = KeptObject.object(of: container) {
                unsafe (objects + count).initialize(to: object)
                count += 1
                return container
            }
        }
        return unsafe make(ContainerPlace(own: handle, kept: nil))
    }
}

/// Where a container finds its handle: in the place of a kept object, which changes, or in itself.
@safe struct ContainerPlace<Handle: BitwiseCopyable> {
    fileprivate let own: Handle
    fileprivate let kept: UnsafeMutablePointer<Handle>?

    var handle: Handle {
        @inline(__always) get { unsafe kept?.pointee ?? own }
    }
}

/// Makes containers of their objects.
///
/// Where the type of a container is not known at compile time, each function that makes a copy of one looks its description up. An
/// object of this class has it in its own description.
final class ContainerCopies<Container> {
    @inline(never)
    func copy(of object: UnsafePointer<KeptObject>) -> Container {
        unsafe UnsafeRawPointer(object).assumingMemoryBound(to: Container.self).pointee
    }
}
