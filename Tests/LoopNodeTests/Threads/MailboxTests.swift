import Glibc
import LoopNode
import Testing

@Suite struct `A mailbox` {
    private func isReadable(_ descriptor: Int32) -> Bool {
        var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&item, 1, 0) == 1
    }

    @Test func `gives everything at once, in the order of posting`() throws {
        let mailbox = try Mailbox<Int>()
        var taken = [99]
        mailbox.takeAll(into: &taken)
        #expect(taken == [])
        for number in 1...3 { mailbox.post(number) }
        mailbox.takeAll(into: &taken)
        #expect(taken == [1, 2, 3])
        mailbox.post(4)
        mailbox.takeAll(into: &taken)
        #expect(taken == [4])
    }

    @Test func `is readable exactly while there is something to take`() throws {
        let mailbox = try Mailbox<Int>()
        var taken: [Int] = []
        #expect(!isReadable(mailbox.descriptor))
        mailbox.post(1)
        mailbox.post(2)
        #expect(isReadable(mailbox.descriptor))
        mailbox.takeAll(into: &taken)
        #expect(!isReadable(mailbox.descriptor))
        mailbox.post(3)
        #expect(isReadable(mailbox.descriptor))
    }

    @Test func `loses and doubles nothing between several posters and a polling owner`() async throws {
        let mailbox = try Mailbox<(poster: Int, number: Int)>()
        let posters = 4
        let each = 5000
        let total: [Int] = try await withThrowingTaskGroup(of: [Int].self) { group in
            group.addTask {
                try await NodeThread.run("owner") {
                    var next = [Int](repeating: 0, count: posters)
                    var taken: [(poster: Int, number: Int)] = []
                    while next.contains(where: { $0 < each }) {
                        var item = pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)
                        guard poll(&item, 1, 10_000) == 1 else { break }
                        mailbox.takeAll(into: &taken)
                        for (poster, number) in taken where next[poster] == number { next[poster] += 1 }
                    }
                    return next
                }
            }
            for poster in 0..<posters {
                group.addTask {
                    for number in 0..<each { mailbox.post((poster, number)) }
                    return []
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(total == [Int](repeating: each, count: posters))
    }
}
