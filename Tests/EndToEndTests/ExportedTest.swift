// swift-format-ignore-file
import LoopCore
import LoopTesting
import Testing

@testable import NewLoop

/// Made by what-if --test, from the journal of the loop newloop.
@Test func `The loop newloop goes on from seq 2`() throws {
    typealias Values = TestLoop<NewLoop.State, NewLoop.Event>
    try TestLoop.run(
        NewLoop(), mode: .selective,
        from: Values.decode(##"{"paid":[],"closed":[],"unpaid":["1",{"cents":2500,"number":"1","customer":"Ada"},"2",{"cents":1,"number":"2","customer":"Bob \"#1"}],"refunds":[]}"##),
        after: Seq(2), seed: 7, wallTime: WallTime(milliseconds: 1000)
    ) { loop in
        try loop.send(Values.decode(#"{"cancel":{"number":"1"}}"#)) {
            $0 = try Values.decode(##"{"paid":[],"closed":[],"unpaid":["2",{"cents":1,"number":"2","customer":"Bob \"#1"}],"refunds":["1",{"cents":2500,"number":"1","customer":"Ada"}]}"##)
        }
        #expect(loop.effects(#"charge"#).count == 1)
        #expect(loop.effects(#"refund"#).count == 1)
        try loop.send(Values.decode(#"{"charged":{"number":"2"}}"#)) {
            $0 = try Values.decode(##"{"paid":["2",{"cents":1,"number":"2","customer":"Bob \"#1"}],"closed":[],"unpaid":[],"refunds":["1",{"cents":2500,"number":"1","customer":"Ada"}]}"##)
        }
        #expect(loop.effects(#"charge"#).count == 0)
        #expect(loop.effects(#"ship"#).count == 1)
    }
}
