/// Names of sessions that cannot be guessed.
enum SessionName {
    /// 128 bits of the system's generator, in hexadecimal digits.
    static func new() -> String {
        var generator = SystemRandomNumberGenerator()
        return [generator.next(), generator.next()].map { (half: UInt64) in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
