import LoopNode
import Testing

@testable import LoopGallery

@Suite(.timeLimit(.minutes(5))) struct `The program of the examples` {
    @Test func `has examples with names of their own, each in one sentence`() {
        let names = Gallery.all.map(\.name)
        #expect(names.contains("movies"))
        #expect(Set(names).count == names.count)
        for example in Gallery.all { #expect(example.abstract.hasSuffix("."), "\(example.name)") }
    }

    @Test func `knows the loops that reducers and workers run`() {
        for example in Gallery.all { #expect(RunnableLoopNames.all.contains(example.name)) }
    }

    @Test(arguments: [
        ["muvies"], ["movies", "--mode", "film"], ["movies", "--fault", "404"], ["movies", "--port", "x"],
    ])
    func `refuses what it does not know`(arguments: [String]) async {
        #expect(await GalleryProgram.run(arguments, environment: [:]) == 64)
    }

    @Test func `every option is in its help, with what it decides`() throws {
        guard case .text(let help) = try GalleryOptions.command.parse(["--help"]) else {
            Issue.record("no help")
            return
        }
        for group in GalleryOptions.command.groups {
            for option in group.options { #expect(help.contains("--\(option.name)"), "\(option.name)") }
        }
    }
}
