import Linux
import LoopCluster
import LoopJournal

/// What `loopctl doctor` finds at a journal's file.
enum JournalFileLook {
    static func findings(of path: String) -> [Finding] { file(path) + disk(of: path) }

    private static func file(_ path: String) -> [Finding] {
        do throws(SystemError) {
            try FileSystem.checkWritable(path)
        } catch {
            return [Finding(.failure, path, "it cannot be written: \(error)")]
        }
        guard FileSystem.status(of: path) != nil else {
            return [Finding(.warning, path, "there is no file", "check the path, or start a reducer, which makes one")]
        }
        do throws(JournalError) {
            return try journal(path)
        } catch {
            return [Finding(.failure, path, error.reason, error.remedy)]
        }
    }

    private static func journal(_ path: String) throws(JournalError) -> [Finding] {
        let journal = try SQLiteJournal.read(path)
        defer { journal.close() }
        if let refusal = journal.startRefusal { throw refusal }
        // A start needs these records, and may need older ones if the definition has changed.
        var position = try journal.snapshots().first { (try? journal.content(of: $0)) != nil }?.position ?? 0
        while true {
            let page = try journal.records(after: position, bytesMax: 1 << 20)
            if page.isEmpty { break }
            position += UInt64(page.count)
        }
        let journalName = "the journal of \(journal.loop) up to seq \(try journal.newestSeq())"
        return journal.openReport.map { Finding(.warning, path, $0) } + [
            Finding(
                .fine, path,
                "\(journalName); older records than the newest snapshot were not read, and no event was replayed",
                "to do both: loop-reducer \(journal.loop) verify \(path.shellWord)")
        ]
    }

    private static func disk(of path: String) -> [Finding] {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard let room = FileSystem.room(at: folder) else { return [] }
        let text = "its disk has \(room >> 20) MiB left"
        return [
            room < 1 << 30
                ? Finding(.warning, path, text, "make room; a full disk stops the loop") : Finding(.fine, path, text)
        ]
    }
}
