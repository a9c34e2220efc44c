import CGuardedMemory
import Glibc
import Testing
import ZMQ

/// libsodium's functions as libzmq finds them.
private struct GuardedAllocator {
    typealias Allocate = @convention(c) (Int, Int) -> UnsafeMutableRawPointer?
    typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void

    let allocate: Allocate
    let free: Free

    init() throws {
        allocate = unsafeBitCast(try #require(dlsym(nil, "sodium_allocarray")), to: Allocate.self)
        free = unsafeBitCast(try #require(dlsym(nil, "sodium_free")), to: Free.self)
    }
}

@Suite struct `The memory of handshakes` {
    private let guarded: Guarded

    init() throws { guarded = try Guarded() }

    @Test func `handshakes take blocks that were used before`() throws {
        var server = try guarded.server(.pull)
        let endpoint = try server.bind("tcp://127.0.0.1:*")
        let keys = try guarded.admitted()
        func shakeHands() throws {
            var client = try guarded.client(.push, keys)
            try client.connect(endpoint)
            try say("hello", by: &client)
            #expect(try hear(&server).text == "hello")
        }
        try shakeHands()
        let before = loop_guarded_counts().used_again
        for _ in 0..<10 { try shakeHands() }
        // A server takes six for each, and a client as many. Other tests may add to that, and take none away.
        #expect(loop_guarded_counts().used_again >= before + 120)
    }

    @Test(arguments: [1, 15, 16, 64, 288, 1000, 1008, 1009, 1024, 5000, 100_000])
    func `a block has its size, and is erased before it is handed out again`(byteCount: Int) throws {
        let allocator = try GuardedAllocator()
        for _ in 0..<100 {
            let block = try #require(allocator.allocate(byteCount, 1))
            let bytes = UnsafeMutableRawBufferPointer(start: block, count: byteCount)
            // A new block of libsodium has other bytes, and none that was written here.
            #expect(!bytes.contains(0x5a))
            for index in bytes.indices { bytes[index] = 0x5a }
            allocator.free(block)
        }
    }

    @Test func `blocks that are in use at the same time do not overlap`() throws {
        let allocator = try GuardedAllocator()
        var blocks: [UnsafeMutableRawBufferPointer] = []
        for number in 0..<200 {
            let byteCount = 1 + number * 7 % 1500
            let start: UnsafeMutableRawPointer = try #require(allocator.allocate(1, byteCount))
            let block = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
            for index in block.indices { block[index] = UInt8(number) }
            blocks.append(block)
        }
        for (number, block) in blocks.enumerated() {
            #expect(block.allSatisfy { $0 == UInt8(number) })
            allocator.free(block.baseAddress)
        }
    }

    @Test func `what is larger than memory can be is refused`() throws {
        let allocator = try GuardedAllocator()
        #expect(allocator.allocate(.max, 4) == nil)
        allocator.free(nil)
    }
}
