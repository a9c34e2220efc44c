import Foundation
import Testing

@Suite struct `The repository` {
    @Test func `names no place of the machine it was written on`() throws {
        // Written in pieces, so that this file passes too.
        let places = ["/ro" + "ot/", "/ho" + "me/", "/wo" + "rk/", "/tmp/" + "wt", "/Us" + "ers/"]
        for file in Repository.files {
            let text = try Repository.text(file)
            for place in places where text.contains(place) { Issue.record("\(file) names \(place)") }
        }
    }

    @Test func `has executables that only put libraries together`() throws {
        let programs = try Manifest.ofLoop.get().targets.filter { $0.type == "executable" && $0.name.hasPrefix("loop") }
        #expect(programs.count >= 7)
        for program in programs {
            let (name, path) = (program.name, try #require(program.path))
            // libFuzzer has the main function of its own program.
            if path.hasPrefix("Fuzzing/") { continue }
            #expect(Repository.files(below: path, suffix: ".swift") == ["\(path)/Main.swift"])
            let lines = try Repository.text("\(path)/Main.swift").split(separator: "\n")
            #expect(lines.count < 40, "\(name): what is worth a test belongs in a library")
        }
    }

    @Test func `has no lock that ThreadSanitizer does not understand`() throws {
        for file in Repository.sources {
            let text = try Repository.text(file)
            let isUsed = [" Mutex<", " Mutex(", ".Mutex<", ".Mutex("].contains { text.contains($0) }
            #expect(!isUsed, "\(file): use Locked of LoopCollections")
        }
    }

    /// A checker that skips a new kind of record or frame by default says for ever that its promise holds. Where all cases are
    /// listed, the kind does not compile until each checker has decided about it.
    @Test func `has checkers that decide about every kind of record and frame`() throws {
        let files = Repository.files(below: "Sources/LoopSimulation/Checkers", suffix: ".swift")
        #expect(files.count >= 10)
        for file in files {
            let lines = try Repository.text(file).split(separator: "\n").map { $0.drop { $0 == " " } }
            let isListed = !lines.contains { $0.hasPrefix("default" + ":") }
            #expect(
                isListed,
                "\(file) has a `default:`: list the cases, so that a new one does not compile until it is decided")
        }
    }

    @Test func `works with the parts of combined feedbacks, and not with what a definition lists`() throws {
        for file in Repository.sources {
            let text = try Repository.text(file)
            #expect(!text.contains("definition." + "feedbacks"), "\(file): use the definition's allFeedbacks")
        }
    }
}
