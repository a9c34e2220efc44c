// Unsafe: C takes one pointer to the body of a thread. The thread owns and frees it, unless the thread could not be created.

internal import CLinux
internal import Glibc

/// Threads of the program's own, never of Swift's pool.
package enum SystemThread {
    private typealias Body = @Sendable () -> Void

    /// Names the calling thread. Only 15 bytes are kept.
    package static func name(_ name: String) { unsafe loop_name_thread(name) }

    /// Starts a thread that runs the body.
    /// - Parameters:
    ///   - name: the name that `top` and debuggers show; only its first 15 bytes count.
    ///   - stackBytes: the largest size of its stack.
    /// - Throws: ``SystemError`` if the system has no space for another thread.
    package static func start(
        _ name: String, stackBytes: Int, body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let start = UnsafeMutablePointer<Body>.allocate(capacity: 1)
        unsafe start.initialize(to: {
            Self.name(name)
            body()
        })
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        unsafe pthread_attr_setstacksize(&attributes, max(stackBytes, 64 << 10))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread, &attributes,
            { raw in
                guard let start = unsafe raw?.assumingMemoryBound(to: Body.self) else { return nil }
                let body = unsafe start.move()
                unsafe start.deallocate()
                body()
                return nil
            }, start)
        if code != 0 {
            unsafe start.deinitialize(count: 1)
            unsafe start.deallocate()
            throw SystemError("start the thread '\(name)'", code: code)
        }
    }
}
