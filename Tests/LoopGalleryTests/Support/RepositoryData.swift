/// The data of the examples' server.
enum RepositoryData {
    static let folder = "\(#filePath.prefix(upTo: #filePath.start(of: "/Tests/LoopGalleryTests/")))/Examples/Data"
}

extension String {
    /// Where the last occurrence of a text begins; the beginning, where there is none.
    fileprivate func start(of text: String) -> Index {
        var index = endIndex
        while index > startIndex {
            index = self.index(before: index)
            if self[index...].hasPrefix(text) { return index }
        }
        return startIndex
    }
}
