import CBOR
import LoopCluster
import LoopCore
import LoopWire
import Testing

@testable import LoopCommands

@Suite struct `Lines of loopctl tail` {
    private enum Event: Codable { case add(Int) }

    private func note(_ seq: UInt64, effect: EffectID? = nil) throws -> TransitionNote {
        TransitionNote(
            seq: Seq(seq), time: WallTime(milliseconds: 1_769_864_709_120), session: SessionID(3), effect: effect,
            event: try CBOR.encode(Event.add(5)))
    }

    @Test func `are for people`() throws {
        var printer = TailPrinter(isJSON: false, countMax: nil)
        let effect = EffectID(feedback: 0, seq: Seq(7), index: 1)
        #expect(
            printer.lines(for: .transitions([try note(8), try note(9, effect: effect)])) == [
                #"2026-01-31T13:05:09.120Z  seq 8  session 3  {"add":{"_0":5}}"#,
                #"2026-01-31T13:05:09.120Z  seq 9  effect 0.7.1  {"add":{"_0":5}}"#,
            ])
        #expect(printer.lines(for: .missed(Seq(10)...Seq(12))) == ["3 transitions were missed"])
        #expect(printer.lines(for: .missed(Seq(10)...Seq(10))) == ["1 transition was missed"])
        #expect(printer.lines(for: .ended(exitCode: 1, text: "")) == ["the loop has ended with exit code 1"])
        #expect(printer.lines(for: .state(Seq(1), [])) == [])
    }

    @Test func `are JSON documents`() throws {
        var printer = TailPrinter(isJSON: true, countMax: nil)
        let effect = EffectID(feedback: 0, seq: Seq(7), index: 1)
        #expect(
            printer.lines(for: .transitions([try note(9, effect: effect)])) == [
                #"{"seq":9,"time":"2026-01-31T13:05:09.120Z","session":3,"effect":"0.7.1","event":{"add":{"_0":5}}}"#
            ])
        #expect(printer.lines(for: .missed(Seq(10)...Seq(12))) == [#"{"missed":{"first":10,"last":12}}"#])
        #expect(printer.lines(for: .ended(exitCode: 0, text: "")) == [#"{"ended":{"exitCode":0}}"#])
    }

    @Test func `are no more transitions than were asked for`() throws {
        var printer = TailPrinter(isJSON: true, countMax: 3)
        #expect(printer.lines(for: .transitions([try note(1), try note(2)])).count == 2)
        #expect(!printer.isDone)
        #expect(printer.lines(for: .transitions([try note(3), try note(4)])).count == 1)
        #expect(printer.isDone)
    }

    @Test func `show an event that cannot be read as null`() throws {
        var printer = TailPrinter(isJSON: true, countMax: nil)
        var note = try note(1)
        note.event = [0xFF]
        #expect(printer.lines(for: .transitions([note])).first?.hasSuffix(#""event":null}"#) == true)
    }
}
