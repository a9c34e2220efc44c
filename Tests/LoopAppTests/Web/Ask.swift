import LoopApp
import TestFolders

/// A server that can be asked. It is kept while it answers.
protocol WebServer: AnyObject {
    var port: UInt16 { get }
}

extension SiteServer: WebServer {}
extension ScriptedSite: WebServer {}

/// Asks on a connection of its own.
///
/// - Parameter request: The request line and headers, without the last line end and without `Host`.
func ask(_ server: some WebServer, _ request: String, body: String = "") throws -> Answer {
    let connection = try Connection(port: server.port)
    connection.send("\(request)\r\nHost: localhost\r\n\r\n\(body)")
    return connection.receive(hasBody: !request.hasPrefix("HEAD"))
}
