import LoopCore
import LoopWire

/// The loop's end, as a reducer has reported it. (Protocol, section 6.)
///
/// It is valid within its epoch. The journal may lose the end with its last records. A reducer that reaches the end again
/// reports it again.
struct HeardEnd: Equatable, Sendable {
    let history: History
    let epoch: Epoch
    /// The seq of the last state.
    let seq: Seq
    let exitCode: Int32
    let text: String

    init(_ frame: PeerFrame, at seq: Seq, exitCode: Int32, text: String) {
        (history, epoch) = (frame.history, frame.epoch)
        (self.seq, self.exitCode, self.text) = (seq, exitCode, text)
    }
}
