/// The package that `loopctl new` makes. This folder is built and tested here, and is what users get.
public enum LoopTemplate {
    /// A file of the package.
    public struct File: Sendable {
        /// The path of the file, relative to the package's folder.
        public let path: String
        /// The content of the file.
        public let text: String

        fileprivate init(_ path: String, _ bytes: [UInt8]) {
            self.path = path
            text = String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The placeholder for a new package's name as the name of a module and a type.
    public static let name = "NewLoop"
    /// The placeholder for a new package's name as the name of a loop and of programs.
    public static let programName = "newloop"

    /// All files of the package, in the order of their paths.
    public static var files: [File] {
        [
            File("Dockerfile", PackageResources.Dockerfile),
            File("Package.swift", PackageResources.Package_swift),
            File("README.md", PackageResources.README_md),
            File("Sources/NewLoop/NewLoop.swift", PackageResources.NewLoop_swift),
            File("Sources/NewLoop/Order.swift", PackageResources.Order_swift),
            File("Sources/NewLoop/Services.swift", PackageResources.Services_swift),
            File("Sources/newloop-client/NewLoopClient.swift", PackageResources.NewLoopClient_swift),
            File("Sources/newloop-reducer/NewLoopReducer.swift", PackageResources.NewLoopReducer_swift),
            File("Sources/newloop-worker/NewLoopWorker.swift", PackageResources.NewLoopWorker_swift),
            File("Tests/NewLoopTests/NewLoopTests.swift", PackageResources.NewLoopTests_swift),
            File("docker-compose.yml", PackageResources.docker_compose_yml),
        ]
    }
}
