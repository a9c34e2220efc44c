import LoopCore
import LoopWire

/// What a reducer has said of the loop's end. (Protocol, section 6.)
///
/// It holds within its epoch: the journal may lose the end with its last records, and a reducer that comes to it again says
/// so again.
struct HeardEnd: Equatable, Sendable {
    let history: History
    let epoch: Epoch
    /// Of the last state.
    let seq: Seq
    let exitCode: Int32
    let text: String

    init(_ frame: PeerFrame, at seq: Seq, exitCode: Int32, text: String) {
        (history, epoch) = (frame.history, frame.epoch)
        (self.seq, self.exitCode, self.text) = (seq, exitCode, text)
    }
}
