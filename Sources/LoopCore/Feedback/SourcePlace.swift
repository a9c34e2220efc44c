/// The place of a call in the source: the name of a feedback that is given none.
@usableFromInline
package func place(_ file: String, _ line: UInt, _ column: UInt) -> String { "\(file):\(line):\(column)" }
