/// The location of a call in the source, as the name of a feedback that has no other.
@usableFromInline
package func place(_ file: String, _ line: UInt, _ column: UInt) -> String { "\(file):\(line):\(column)" }
