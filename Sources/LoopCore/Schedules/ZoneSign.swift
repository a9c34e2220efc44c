/// Checks the sign of a zone's offset: in POSIX rules, and in names that begin with `Etc/GMT`, zones ahead of UTC have a minus.
enum ZoneSign {
    /// - Throws: `ScheduleError` if a zone reads as the opposite of what it means: `UTC+2`, `Etc/GMT-3`, `<+02>2`.
    static func check(_ zone: String) throws(ScheduleError) {
        var text = zone[...]
        for folder in ["posix/", "right/", "Etc/"] where text.hasPrefix(folder) { text = text.dropFirst(folder.count) }
        let name = text.hasPrefix("<") ? text.prefix { $0 != ">" } : text.prefix { $0.isLetter }
        let offset = text.dropFirst(name.count).drop { $0 == ">" }.prefix { "+-0123456789:".contains($0) }
        guard offset.contains(where: { ("1"..."9").contains($0) }) else { return }
        let isAhead = offset.hasPrefix("-")
        if name.hasPrefix("<") {
            // The sign in the zone's own name.
            guard name.last(where: { "+-".contains($0) }) == (isAhead ? "-" : "+") else { return }
        } else {
            // CET+1 reads as one hour ahead of UTC. A rule that means behind UTC needs no plus: EST5.
            guard offset.hasPrefix("+") || ["UTC", "GMT", "UT"].contains(name.uppercased()) else { return }
        }
        let parts = offset.drop { "+-".contains($0) }.split(separator: ":")
        let digits = parts.map { $0.count == 1 ? "0\($0)" : "\($0)" }.joined()
        let hours = parts.joined(separator: ":")
        throw ScheduleError(
            "the time zone \"\(zone)\" means \(hours) hours \(isAhead ? "ahead of" : "behind") UTC, since such signs are"
                + " reversed; write \"<+\(digits)>-\(hours)\" for ahead, \"<-\(digits)>\(hours)\" for behind, or a name such"
                + " as \"Europe/Berlin\"")
    }
}
