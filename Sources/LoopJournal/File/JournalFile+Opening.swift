internal import LoopCluster
internal import LoopWire

/// The result of checking a journal at its opening.
struct Judged {
    var base: ChainLink
    var tail: ChainLink
    /// The last row, if it is not whole and so was never acknowledged.
    var shortRow: BatchRow?
    /// The files of snapshots beyond the end of the journal. The records between may be lost.
    var lostSnapshots: [String] = []
    /// Lines about what was found, for people.
    var report: [String] = []
}

extension JournalFile {
    static func forReading(_ paths: JournalPaths) throws(JournalError) -> JournalFile {
        do throws(JournalError) {
            let file = try JournalFile(paths.file, .read, system: nil)
            _ = try file.number("SELECT count(*) FROM sqlite_schema")
            return file
        } catch {
            guard error.kind == .readOnly else { throw error }
            // If no index of the log can be made, no process writes. Without a log, nothing is missing.
            if try (Disk().read(paths.log, atMost: 1) ?? []).isEmpty {
                return try JournalFile(paths.file, .readUnchanging, system: nil)
            }
            let rollback = paths.file + "-journal"
            guard Disk().exists(rollback) else { throw error }
            throw JournalError(
                .readOnly, operation: "be read",
                reason: "\(rollback) says that a change of the file was not finished, and reading cannot take it back",
                remedy: "start the loop's reducer, which does that, or move it away if it is not of this file")
        }
    }

    /// Refuses a file that is not this loop's journal. Changes nothing.
    func check(_ path: String, loop: String, expected: History?) throws(JournalError) {
        try checkVersion(path)
        let owner = try metaText("loop") ?? ""
        guard owner == loop else {
            throw JournalError(.foreign, "be opened", "\(path) is the journal of the loop \(owner), not of \(loop)")
        }
        try checkIdentity(path, loop: loop)
        let history = try history()
        if let expected, history != expected {
            throw JournalError(
                .foreign, operation: "be opened again",
                reason:
                    "\(path) is the journal of history \(history) now, and this process has had that of \(expected)",
                remedy: "put that one back, or start the reducer again to go on with this one")
        }
    }

    /// Refuses a journal whose loop name or history does not match its identity.
    func checkIdentity(_ path: String, loop: String) throws(JournalError) {
        let identity = Self.identity(loop, try history())
        guard try meta("identity") == identity else {
            throw JournalError(
                .corrupt, operation: "be opened", reason: "the name or the history in \(path) is not what was written",
                remedy: "put back a copy of \(path)")
        }
    }

    /// Decides whether the journal is complete, and changes nothing. Every start uses it, and every reader of a journal that no
    /// process writes.
    /// - Throws: `JournalError` if acknowledged records are missing or damaged.
    func judged(_ traces: Traces, loop: String, path: String) throws(JournalError) -> Judged {
        let base = try base()
        let (tail, short) = try checkedTail(after: base, loop: loop, path: path)
        var judged = Judged(base: base, tail: tail, shortRow: short)
        if let short {
            judged.report.append(
                "the last row, records \(short.firstPosition) to \(short.lastPosition), does not count: it is short, so it was"
                    + " never acknowledged")
        }
        func damage(_ reason: String) -> JournalError {
            .damaged(loop: loop, path: path, position: tail.position + 1, seq: tail.seq + 1, reason)
        }
        let known = UInt64(bitPattern: try meta("position") ?? 0)
        guard tail.position >= known else { throw damage("the records up to \(known) were there and are not") }
        if !traces.log.isEmpty { try checkLogIsItsOwn(path, short?.lastPosition ?? tail.position, damage) }
        let wasSynced = try meta("durability") == Durability.fsync.number
        try judge(traces.log, wasSynced: wasSynced, tail, path, damage, &judged.report)
        let isWhole = try meta("made_whole") == 1
        if isWhole {
            judged.lostSnapshots = traces.snapshots.filter { $0.position > tail.position }.map(\.name)
        } else {
            let names = Set(try snapshots().map(SnapshotFolder.name))
            let found = try traces.check(tail, of: history(), listed: names, wasSynced: wasSynced, damage: damage)
            judged.lostSnapshots = found.lost
            judged.report += found.report
        }
        return judged
    }

    /// Refuses a log of another journal, or of another state of this one, because it would hide records of the file.
    private func checkLogIsItsOwn(
        _ path: String, _ last: UInt64, _ damage: (String) -> JournalError
    ) throws(JournalError) {
        let history = try history()
        // During a checkpoint the file cannot be read without its log. Then this check finds nothing.
        guard let alone = try? JournalFile(path, .readUnchanging, system: nil),
            (try? alone.checkVersion(path)) != nil, let own = try? alone.history(), own != .none
        else { return }
        guard history == own else {
            throw damage("\(path)-wal is of a journal of history \(history), and \(path) is of history \(own)")
        }
        guard let base = try? alone.base(), let end = try? alone.checkedTail(after: base, loop: "", path: path).tail
        else { return }
        guard end.position <= last else {
            throw damage("\(path) has the records up to \(end.position), and with \(path)-wal it ends before them")
        }
        // The log is of a process that has lost the file to another process, which has written other records.
        guard try end.position > self.base().position else { return }
        guard try rows(through: end.position, max: 1).first??.link == end else {
            throw damage("\(path) and \(path)-wal have different records \(end.position)")
        }
    }

    /// Reports what SQLite drops from the log. Refuses the start if that was acknowledged.
    private func judge(
        _ log: LogInspection, wasSynced: Bool, _ tail: ChainLink, _ path: String, _ damage: (String) -> JournalError,
        _ report: inout [String]
    ) throws(JournalError) {
        switch log.finding {
        case .whole: break
        case .broken where wasSynced:
            throw damage("\(path)-wal cannot be read from there on, and what follows was acknowledged")
        case .torn(let pages):
            report.append(
                "\(pages) \(pages == 1 ? "page" : "pages") of \(path)-wal behind record \(tail.position), seq \(tail.seq),"
                    + " \(pages == 1 ? "does" : "do") not count: a batch that was not completed")
        case .broken:
            report.append(
                "what is behind record \(tail.position), seq \(tail.seq), where \(path)-wal cannot be read, does not count:"
                    + " it was not synced")
        }
    }

    /// Moves the log of an earlier process into the file and syncs it, as far as no reader needs older pages. This
    /// includes what a failed sync may have left in memory only. If the whole log was moved, the next row starts the
    /// log again.
    func begin(_ durability: Durability, _ tail: ChainLink, _ log: LogInspection) throws(JournalError) {
        let position = Int64(bitPattern: tail.position)
        let (noted, isWhole) = (try meta("durability"), try meta("made_whole") == 1)
        let isNoted = try meta("position") == position && noted == durability.number && !isWhole
        try naming("be brought up to date") { () throws(SQLiteError) in
            try checkpoint()
            if isNoted && log.isEmpty { return }
            // The durability of the next rows must be known after a loss of power.
            try setSynchronous(.fsync)
            try database.transaction { () throws(SQLiteError) in
                try set("durability", durability.number)
                try set("position", position)
                try database.execute("DELETE FROM meta WHERE name = 'made_whole'")
            }
            try setSynchronous(durability)
            try checkpoint()
        }
    }

    func history() throws(JournalError) -> History {
        History(UInt64(bitPattern: try meta("history") ?? 0))
    }

    /// The position at which the rows begin, as the end of the last trimmed row.
    func base() throws(JournalError) -> ChainLink {
        guard let position = try meta("trimmed_position") else { return .start }
        let seq = try meta("trimmed_seq") ?? 0
        let checksum = try meta("trimmed_checksum") ?? 0
        guard let link = ChainLink(trimmedTo: position, seq: seq, checksum: checksum) else {
            throw JournalError(
                .corrupt, operation: "be read",
                reason: "it says that it was trimmed up to position \(position), seq \(seq), which cannot be",
                remedy: "put back a copy of it")
        }
        return link
    }

    /// The end of the newest row, by its numbers. If these are impossible, it is the row's first position, and a reader that comes
    /// to the row gets the error.
    func tail(after base: ChainLink) throws(JournalError) -> ChainLink {
        guard let newest = try rows(through: .max, max: 1).first else { return base }
        try checkTrimmed(base, newest)
        if let newest { return newest.link }
        let place = UInt64(clamping: try number("SELECT max(first_position) FROM batches") ?? 0)
        var end = base
        end.position = max(base.position + 1, min(place, BatchRow.numbersMax - 1))
        return end
    }

    /// Refuses a journal whose rows end before they begin.
    func checkTrimmed(_ base: ChainLink, _ newest: BatchRow?) throws(JournalError) {
        guard let newest, newest.lastPosition <= base.position else { return }
        throw JournalError(
            .corrupt, operation: "be read",
            reason: "it says that it was trimmed up to position \(base.position), and ends at \(newest.lastPosition)",
            remedy: "put back a copy of it")
    }
}
