internal import LoopFetch

/// The fetchers of this process, one for each user agent. The jobs of a check share one.
actor SharedFetchers {
    static let shared = SharedFetchers()

    private var fetchers: [String: Fetcher] = [:]

    func fetcher(userAgent: String) throws(FetchError) -> Fetcher {
        if let fetcher = fetchers[userAgent] { return fetcher }
        var configuration = FetchConfiguration()
        configuration.userAgent = userAgent
        let fetcher = try Fetcher(configuration: configuration)
        fetchers[userAgent] = fetcher
        return fetcher
    }
}
