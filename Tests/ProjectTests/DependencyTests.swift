import Testing

/// What a target links is what it reaches in Package.swift.
@Suite struct `The programs` {
    /// The targets that each target of Sources names as its dependencies.
    private static let dependencies: [String: Set<String>] = {
        guard let manifest = try? Repository.text("Package.swift") else { return [:] }
        let targets = manifest.matches(of: /\n {8}(?:library|executable)\(\s*"([^"]+)"(?:,\s*\[([^\]]*)\])?/)
        return Dictionary(
            targets.map { target in
                let names = (target.output.2 ?? "").matches(of: /"([^"]+)"/).map { String($0.output.1) }
                return (String(target.output.1), Set(names))
            }, uniquingKeysWith: { $1 })
    }()

    private static func reached(from target: String) -> Set<String> {
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
    func `link no user interface unless they show one`(target: String) {
        let reached = Self.reached(from: target)
        #expect(reached.contains("LoopCore"))
        #expect(
            reached.isDisjoint(with: ["LoopView", "LoopApp", "CHTTPD"]), "\(target): \(reached.sorted())")
    }

    @Test func `that show something do link it`() {
        #expect(Self.reached(from: "loop-example").isSuperset(of: ["LoopView", "LoopApp", "CHTTPD"]))
        #expect(Self.dependencies.count > 20)
    }

    @Test func `import each module by its name`() throws {
        for file in Repository.files(below: "Sources", suffix: ".swift") {
            #expect(try !Repository.text(file).contains("@_exported"), "\(file)")
        }
    }
}
