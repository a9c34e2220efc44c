extension Array where Element == Double {
    /// The middle one; of an even number the upper of both.
    var median: Double { sorted()[count / 2] }

    /// The value that `percent` of all do not exceed.
    func percentile(_ percent: Int) -> Double { sorted()[Swift.min(count - 1, count * percent / 100)] }
}
