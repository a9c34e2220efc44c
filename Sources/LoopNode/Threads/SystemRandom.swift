internal import Linux

/// Random numbers from the kernel, for identities, histories and seeds. Machines get theirs as arguments.
public enum SystemRandom {
    /// Returns a number of random bytes.
    public static func bytes(_ count: Int) -> [UInt8] { System.randomBytes(count) }

    /// Returns a random number.
    public static func uint64() -> UInt64 {
        bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
