extension Array where Element == Double {
    /// The middle one; of an even number the upper of both.
    var median: Double { sorted()[count / 2] }
}
