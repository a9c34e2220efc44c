import Glibc

/// Measures how many bytes are allocated at one time, where the process was built with the address sanitizer; else it
/// measures nothing.
///
/// Of one process: the sanitizer's hooks are never taken out again.
package struct AllocationMeter: Sendable {
    /// Whether there is anything that measures.
    package let isMeasuring: Bool

    /// Bytes allocated since `begin` and not freed, and the most of them. Plain memory: a hook must not allocate.
    private struct Count {
        var isOn = false
        var now = 0
        var peak = 0
    }

    private typealias MallocHook = @convention(c) (UnsafeRawPointer?, Int) -> Void
    private typealias FreeHook = @convention(c) (UnsafeRawPointer?) -> Void
    private typealias Install = @convention(c) (MallocHook, FreeHook) -> CInt
    private typealias Size = @convention(c) (UnsafeRawPointer?) -> Int

    nonisolated(unsafe) private static let count = {
        let count = UnsafeMutablePointer<Count>.allocate(capacity: 1)
        count.initialize(to: Count())
        return count
    }()
    private static let size = symbol("__sanitizer_get_allocated_size", as: Size.self)

    package init() {
        guard let install = Self.symbol("__sanitizer_install_malloc_and_free_hooks", as: Install.self),
            Self.size != nil
        else {
            isMeasuring = false
            return
        }
        // Made before a hook can ask for it.
        Self.count.pointee = Count()
        let installed = install(
            { _, bytes in
                guard AllocationMeter.count.pointee.isOn else { return }
                AllocationMeter.count.pointee.now += bytes
                AllocationMeter.count.pointee.peak = max(
                    AllocationMeter.count.pointee.peak, AllocationMeter.count.pointee.now)
            },
            { place in
                guard AllocationMeter.count.pointee.isOn, let place, let size = AllocationMeter.size else { return }
                AllocationMeter.count.pointee.now -= size(place)
            })
        isMeasuring = installed > 0
    }

    package func begin() { Self.count.pointee = Count(isOn: true) }

    /// - Returns: the most bytes that were allocated at one time since `begin`.
    package func end() -> Int {
        defer { Self.count.pointee.isOn = false }
        return Self.count.pointee.peak
    }

    private static func symbol<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let place = dlsym(nil, name) else { return nil }
        return unsafeBitCast(place, to: type)
    }
}
