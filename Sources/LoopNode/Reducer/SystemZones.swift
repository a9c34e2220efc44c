import Linux
import LoopCore

/// The zones of this machine's time zone database.
enum SystemZones {
    private static let bytesMax = 1 << 20

    /// Reads the zones that schedules name.
    /// - Parameters:
    ///   - schedules: the schedules of a definition, with the names of their feedbacks.
    ///   - folder: the folder of the database.
    /// - Throws: `NodeError.definition` if a schedule is wrong, or its zone cannot be read.
    static func read(
        for schedules: [(name: String, schedule: Schedule)], in folder: String = "/usr/share/zoneinfo"
    ) throws(NodeError) -> ZoneDatabase {
        var database = ZoneDatabase()
        for (name, schedule) in schedules {
            if let zone = schedule.namedZone, database.named[zone] == nil, isName(zone) {
                let path = "\(folder)/\(zone)"
                // A zone that cannot be read counts as unknown, which is reported below.
                if let bytes = try? FileSystem.bytes(of: path), bytes.count <= bytesMax {
                    do {
                        database.named[zone] = try ZoneRules(tzif: bytes)
                    } catch {
                        throw .definition("the zone of the schedule \"\(name)\", \(path), cannot be read: \(error)")
                    }
                }
            }
            do {
                _ = try schedule.planned(database)
            } catch {
                throw .definition("the schedule \"\(name)\" cannot run: \(error)")
            }
        }
        return database
    }

    /// Whether a text can name a file inside the database's folder, and none outside.
    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255 && !text.hasPrefix("/")
            && text.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
                !part.isEmpty && !part.hasPrefix(".")
                    && part.utf8.allSatisfy {
                        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
                            || [43, 45, 46, 95].contains($0)
                    }
            }
    }
}
