internal import CLinux
internal import Glibc

/// Random numbers of the kernel, for identities, histories and seeds; machines get theirs as arguments.
public enum SystemRandom {
    /// So many random bytes.
    public static func bytes(_ count: Int) -> [UInt8] {
        if count <= 0 { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < buffer.count {
                let result = getrandom(buffer.baseAddress.map { $0 + filled }, buffer.count - filled, 0)
                if result > 0 {
                    filled += result
                } else {
                    precondition(errno == EINTR, "the kernel gives no random bytes: errno \(errno)")
                }
            }
        }
    }

    /// A random number.
    public static func uint64() -> UInt64 {
        bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
