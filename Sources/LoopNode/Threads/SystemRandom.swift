internal import Linux

/// Random numbers of the kernel, for identities, histories and seeds; machines get theirs as arguments.
public enum SystemRandom {
    /// A number of random bytes.
    public static func bytes(_ count: Int) -> [UInt8] { System.randomBytes(count) }

    /// A random number.
    public static func uint64() -> UInt64 {
        bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
