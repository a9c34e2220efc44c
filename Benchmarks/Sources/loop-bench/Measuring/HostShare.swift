import Foundation

/// How much of this machine's processors a host gave to others (`steal` in `/proc/stat`): what was meant to run stood still
/// meanwhile, whatever it was.
struct HostShare {
    /// Of all processors since the machine started, in ticks.
    private let taken: Double
    private let all: Double

    /// Up to now. Nothing was taken where the system does not say.
    init() {
        let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
        // user, nice, system, idle, iowait, irq, softirq, steal: those behind are parts of the first.
        let ticks = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
        taken = ticks.count == 8 ? ticks[7] : 0
        all = ticks.reduce(0, +)
    }

    /// In percent, since `earlier`.
    func percent(since earlier: HostShare) -> Int {
        Int((100 * (taken - earlier.taken) / max(1, all - earlier.all)).rounded())
    }
}
