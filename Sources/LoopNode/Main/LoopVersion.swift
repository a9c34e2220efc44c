/// The version of all executables.
package enum LoopVersion {
    /// The release, as `--version` prints it.
    package static let current = "0.1.0"
}
