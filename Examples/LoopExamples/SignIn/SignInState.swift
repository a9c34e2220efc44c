extension SignIn {
    public struct State: Codable, Equatable, Sendable {
        public var userName = ""
        public var hasAcceptedTerms = false
        public var check = Check.none
        public var status = Status.editing

        public init() {}

        /// Whether everything is there that a submission needs.
        public var canSubmit: Bool { status.isEditable && check == .free && hasAcceptedTerms }

        // What should be going on.

        /// A name that was typed a moment ago, perhaps not to its end.
        var nameBeingTyped: String? { check == .typing ? userName : nil }
        /// A name of which the directory has to be asked.
        var nameToCheck: String? { check == .asking ? userName : nil }
        /// A name to sign in with.
        var nameToSubmit: String? { status == .submitting ? userName : nil }
    }

    /// What is known about the name.
    public enum Check: Codable, Equatable, Sendable {
        /// There is no name.
        case none
        /// It changed a moment ago; whether it is free is not worth asking yet.
        case typing
        /// The directory is being asked.
        case asking
        case free
        case taken
        /// The directory does not answer.
        case failed(String)
    }

    /// How far the form has come.
    public enum Status: Codable, Equatable, Sendable {
        case editing
        case submitting
        case signedIn
        /// It was submitted without success, and can be changed.
        case failed(String)

        /// Whether fields can be changed.
        var isEditable: Bool {
            switch self {
            case .editing, .failed: true
            case .submitting, .signedIn: false
            }
        }
    }
}
