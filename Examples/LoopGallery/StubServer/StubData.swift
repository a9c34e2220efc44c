import CBOR
internal import Linux
internal import LoopNode

/// The data of the examples' server.
package enum StubData {
    /// One film of `movies.json`.
    struct Film: Codable, Equatable, Sendable {
        var id: Int
        var title: String
        var year: Int
        var director: String
        var country: String
    }

    /// An error: the folder of the data is missing, or has other contents.
    package struct Unreadable: Error, CustomStringConvertible {
        package let description: String
    }

    /// The films of `movies.json`.
    /// - Throws: ``Unreadable``.
    static func movies(in folder: String) throws(Unreadable) -> [Film] {
        let path = "\(folder)/movies.json"
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try FileSystem.bytes(of: path)
        } catch {
            throw Unreadable(description: "\(path) cannot be read: \(error.text)")
        }
        do {
            return try CBOR.decode([Film].self, from: CBOR.fromJSON(text: String(decoding: bytes, as: UTF8.self)))
        } catch {
            throw Unreadable(description: "\(path) is no list of films: \(error)")
        }
    }

    /// The folder of the data, below the working directory or below a folder above this program; or nil if there is none.
    package static var folder: String? {
        var places = ["."]
        var place = ProcessEnvironment.executable ?? ""
        while let slash = place.lastIndex(of: "/"), slash > place.startIndex {
            place = String(place[..<slash])
            places.append(place)
        }
        return places.map { "\($0)/Examples/Data" }.first { FileSystem.isReadable("\($0)/movies.json") }
    }
}
