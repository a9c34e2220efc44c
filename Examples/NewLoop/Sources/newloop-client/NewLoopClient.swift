import Foundation
import LoopCore
import LoopNode
import NewLoop

/// Places an order and waits for its end, or cancels one.
@main struct NewLoopClient {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
            guard fflush(nil) == 0 else {
                FileHandle.standardError.write(Data("newloop-client: could not write to standard output\n".utf8))
                exit(2)
            }
        } catch {
            print("newloop-client: \(error)")
            exit(2)
        }
    }

    private static func run(_ words: [String]) async throws {
        switch words.first {
        case "place" where words.count == 4:
            guard let cents = Int(words[3]) else {
                print("newloop-client: \(words[3]) is no number of cents")
                exit(64)
            }
            try await send(.place(Order(number: words[1], customer: words[2], cents: cents)), about: words[1])
        case "cancel" where words.count == 2:
            try await send(.cancel(number: words[1]), about: words[1])
        default:
            print("Usage: newloop-client place NUMBER CUSTOMER CENTS\n       newloop-client cancel NUMBER")
            if words != ["--help"] { exit(64) }
        }
    }

    /// Sends an event, and follows the loop until the order has ended.
    private static func send(_ event: NewLoop.Event, about number: String) async throws {
        // The reducer is that of LOOP_REDUCER, or the one on this machine. With keys, set LOOP_KEY and LOOP_REDUCER_KEY.
        try await withRemoteLoop(NewLoop.self) { loop in
            let id = try await loop.sendAndConfirm(event)
            print("accepted as event \(id.seq)")
            for await (_, state) in loop.states(from: id) {
                if let ending = state.closed[number] { return print("\(number): \(ending)") }
                if !state.knows(number) { return print("\(number): there is no such order") }
            }
        }
    }
}
