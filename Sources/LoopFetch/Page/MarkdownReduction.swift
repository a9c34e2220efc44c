struct MarkdownReduction {
    var title = ""
    mutating func html(of bytes: [UInt8]) -> [UInt8] { [] }
}
