extension SignIn {
    package struct State: Codable, Equatable, Sendable {
        package var userName = ""
        package var hasAcceptedTerms = false
        package var check = Check.none
        package var status = Status.editing

        /// Whether a submission is possible.
        package var canSubmit: Bool { status.isEditable && check == .free && hasAcceptedTerms }

        // The requests.

        /// A name that was just typed, perhaps incompletely.
        var nameBeingTyped: String? { check == .typing ? userName : nil }
        /// A name to look up in the directory.
        var nameToCheck: String? { check == .asking ? userName : nil }
        /// A name to sign in with.
        var nameToSubmit: String? { status == .submitting ? userName : nil }
    }

    /// What is known about the name.
    package enum Check: Codable, Equatable, Sendable {
        /// There is no name.
        case none
        /// It has just changed, and is not worth a look-up yet.
        case typing
        /// The look-up is under way.
        case asking
        case free
        case taken
        /// The directory does not answer.
        case failed(String)

        private enum CodingKeys: CodingKey, CaseIterable { case none, typing, asking, free, taken, failed }
    }

    /// The status of the form.
    package enum Status: Codable, Equatable, Sendable {
        case editing
        case submitting
        case signedIn
        /// The submission failed for this reason, and the form can be changed.
        case failed(String)

        private enum CodingKeys: CodingKey, CaseIterable { case editing, submitting, signedIn, failed }

        /// Whether fields can be changed.
        var isEditable: Bool {
            switch self {
            case .editing, .failed: true
            case .submitting, .signedIn: false
            }
        }
    }
}
