import LoopCore
import LoopTesting
import Testing

/// The text of the failure that a test of a crossing ends with, but for its place.
func failure(
    _ crossing: Crossing = Crossing(), mode: CrossingLoop.Mode = .exhaustive,
    sourceLocation: SourceLocation = #_sourceLocation, _ test: (CrossingLoop) throws -> Void
) -> String {
    do {
        try TestLoop.run(crossing, mode: mode, test)
        Issue.record("nothing failed", sourceLocation: sourceLocation)
        return ""
    } catch let failure as TestLoopFailure {
        // What is found at the end of the test is a failure of `run`, which is called here.
        #expect([sourceLocation.fileID, #fileID].contains(failure.file), sourceLocation: sourceLocation)
        return ([failure.summary] + failure.details).joined(separator: "\n")
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
        return ""
    }
}
