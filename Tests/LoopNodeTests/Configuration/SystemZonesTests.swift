import LoopCore
import TestFolders
import Testing

@testable import LoopNode

@Suite struct `Zones of the machine` {
    private func nightly(_ zone: String) -> [(name: String, schedule: Schedule)] {
        [("nightly", .cron("0 3 * * *", timeZone: zone))]
    }

    @Test(arguments: ["Europe/Berlin", "../zones/Berlin", "/etc/localtime", "", "Europe//Berlin", ".", "Ber\u{0}lin"])
    func `that are not there end the start with an error that names the schedule`(zone: String) {
        let folder = TestFolder()
        folder.write("zones/Berlin", "no zone")
        let error = #expect(throws: NodeError.self) { try SystemZones.read(for: nightly(zone), in: "\(folder.path)/x") }
        guard case .definition(let text) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "nothing") was thrown")
            return
        }
        #expect(text.hasPrefix("the schedule \"nightly\" cannot run: the time zone \"\(zone)\" is not known here"))
    }

    @Test func `whose files are something else are an error that names the file`() {
        let folder = TestFolder()
        folder.write("Europe/Berlin", "TZif? no")
        let error = #expect(throws: NodeError.self) {
            try SystemZones.read(for: nightly("Europe/Berlin"), in: folder.path)
        }
        #expect(error.map { "\($0)" }?.contains("\(folder.path)/Europe/Berlin, cannot be read") == true)
    }

    @Test func `are needed for names alone`() throws {
        let zones = try SystemZones.read(
            for: nightly("UTC") + nightly("CET-1CEST,M3.5.0,M10.5.0/3") + [("often", .every(.seconds(5)))],
            in: "/nowhere")
        #expect(zones.named.isEmpty)
    }
}
