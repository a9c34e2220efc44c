import Testing

/// What a target links is what it reaches in Package.swift.
@Suite struct `The programs` {
    /// The targets that each target names as its dependencies.
    private static func dependencies() throws -> [String: Set<String>] {
        try Dictionary(
            Manifest.ofLoop.get().targets.map { ($0.name, $0.dependencyNames) }, uniquingKeysWith: { $1 })
    }

    private static func reached(from target: String) throws -> Set<String> {
        let dependencies = try dependencies()
        var reached: Set<String> = []
        var next = [target]
        while let name = next.popLast() {
            for dependency in dependencies[name] ?? [] where reached.insert(dependency).inserted {
                next.append(dependency)
            }
        }
        return reached
    }

    @Test(arguments: ["loop-effect", "loop-reducer", "LoopNode", "LoopExamples", "LoopSimulation", "LoopJournal"])
    func `link no user interface unless they show one`(target: String) throws {
        let reached = try Self.reached(from: target)
        #expect(reached.contains("LoopCore"))
        #expect(
            reached.isDisjoint(with: ["LoopView", "LoopApp"]), "\(target): \(reached.sorted())")
    }

    @Test func `that show something do link it`() throws {
        #expect(try Self.reached(from: "loop-example").isSuperset(of: ["LoopView", "LoopApp", "CHTTPD"]))
        #expect(try Self.dependencies().count > 20)
    }

    @Test func `import each module by its name`() throws {
        for file in Repository.files(below: "Sources", suffix: ".swift") {
            #expect(try !Repository.text(file).contains("@_exported"), "\(file)")
        }
    }
}
