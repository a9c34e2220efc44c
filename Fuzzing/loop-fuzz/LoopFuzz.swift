import Glibc
import LoopFuzzing

/// libFuzzer's beginning: writes the seeds, those that code makes and those of the file LOOP_FUZZ_CORPUS, into the folder
/// LOOP_FUZZ_SEEDS, before libFuzzer reads it.
@_cdecl("LLVMFuzzerInitialize")
package func loopFuzzInitialize(
    _ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    if let folder = getenv("LOOP_FUZZ_SEEDS") { Session.current.writeSeeds(to: String(cString: folder)) }
    return 0
}

/// libFuzzer's entry: runs the target that LOOP_FUZZ_TARGET names on the inputs that libFuzzer makes. A finding ends the
/// process, as a trap does; libFuzzer then keeps the input.
///
/// Built by `scripts/fuzz`, with coverage and the address sanitizer. Built without them it does nothing.
@_cdecl("LLVMFuzzerTestOneInput")
package func loopFuzzTestOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    Session.current.run(UnsafeBufferPointer(start: data, count: count))
    return 0
}

/// What one process of libFuzzer does.
struct Session {
    let target: FuzzTarget
    let meter = AllocationMeter()

    static let current = Session()

    init() {
        let name = getenv("LOOP_FUZZ_TARGET").map { String(cString: $0) } ?? ""
        guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
            let names = FuzzTarget.all.map(\.name).joined(separator: ", ")
            fatalError("LOOP_FUZZ_TARGET is \"\(name)\", and has to be one of \(names)")
        }
        self.target = target
        guard meter.isMeasuring else { fatalError("the address sanitizer is missing, which measures allocations") }
        // What is made once in a process, such as tables of types, is not the input's.
        for seed in Self.seeds(of: target) { try? target.run(seed.bytes) }
    }

    private static func seeds(of target: FuzzTarget) -> [FuzzSeed] {
        do { return try target.seeds() } catch { fatalError("the seeds of \(target.name): \(error)") }
    }

    private static var corpus: [FuzzSeed] {
        guard let path = getenv("LOOP_FUZZ_CORPUS").map({ String(cString: $0) }) else { return [] }
        do { return try FuzzCorpus.seeds(in: path) } catch { fatalError("\(path): \(error)") }
    }

    func writeSeeds(to folder: String) {
        for seed in Self.seeds(of: target) + Self.corpus {
            guard let file = fopen("\(folder)/\(seed.name)", "w") else {
                fatalError("\(folder)/\(seed.name) cannot be written: errno \(errno)")
            }
            let written = fwrite(seed.bytes, 1, seed.bytes.count, file)
            guard fclose(file) == 0, written == seed.bytes.count else {
                fatalError("\(folder)/\(seed.name) cannot be written: errno \(errno)")
            }
        }
    }

    func run(_ data: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(data)
        meter.begin()
        do {
            try target.run(bytes)
        } catch {
            fatalError("\(target.name): \(error)")
        }
        let peak = meter.end()
        let limit = target.budget.bytes(forInputOf: bytes.count)
        if peak > limit {
            fatalError(
                "\(target.name): \(peak) bytes were allocated at one time for \(bytes.count), at most \(limit) may be")
        }
    }
}
