import LoopKeys
import LoopNode
import TestFolders
import Testing

@testable import LoopCommands

@Suite struct `The plan of up` {
    @Test func `gives the reducer its options and the loop's arguments, and workers its address`() throws {
        let request = try upRequest([
            "up", "linkcheck", "--workers", "2", "--capacity", "3", "--silence-limit", "1s", "--json", "r.json",
            "--external", "http://x/",
        ])
        let plan = try UpPlan(request, claimed: "tcp://127.0.0.1:7713", folder: "/opt/loop")
        #expect(plan.reducerProgram == "/opt/loop/loop-reducer")
        #expect(
            plan.reducerArguments == [
                "linkcheck", "--bind", "tcp://127.0.0.1:7713", "--silence-limit", "1000ms", "--json", "r.json",
                "--external", "http://x/",
            ])
        #expect(plan.workerProgram == "/opt/loop/loop-effect")
        #expect(
            plan.workerArguments(2) == [
                "linkcheck", "--reducer", "tcp://127.0.0.1:7713", "--name", "worker-2", "--capacity", "3",
            ])
    }

    @Test func `takes a silence limit as the reducer does, and names the variable that is wrong`() throws {
        let request = try upRequest(["up", "own"], ["LOOP_SILENCE_LIMIT": "1.5s"])
        let plan = try UpPlan(request, claimed: nil, folder: "/")
        #expect(Array(plan.reducerArguments.suffix(2)) == ["--silence-limit", "1500ms"])
        let error = #expect(throws: UsageError.self) { try upRequest(["up", "own"], ["LOOP_SILENCE_LIMIT": "x"]) }
        #expect(error?.message.hasPrefix("LOOP_SILENCE_LIMIT cannot be 'x'") == true, "\(String(describing: error))")
    }

    @Test func `hands the form and the level of the log to all processes`() throws {
        let request = try upRequest(["up", "own", "--log", "json", "--log-level", "debug"])
        let plan = try UpPlan(request, claimed: nil, folder: "/")
        let options = ["--log", "json", "--log-level", "debug"]
        #expect(Array(plan.reducerArguments.suffix(4)) == options)
        #expect(Array(plan.workerArguments(1).suffix(4)) == options)
    }

    @Test func `shows the processes' logs from notice on, unless someone says something else`() throws {
        var request = try upRequest(["up", "own"])
        func environment(_ own: [String: String]) throws -> [String: String] {
            try UpPlan(request, claimed: nil, folder: "/", environment: own).environment
        }
        #expect(try environment(["PATH": "/bin"]) == ["PATH": "/bin", "LOOP_LOG_LEVEL": "notice"])
        request = try upRequest(["up", "own"], ["LOOP_LOG_LEVEL": "debug"])
        #expect(try environment(["LOOP_LOG_LEVEL": "debug"]) == [:])
        #expect(
            Array(try UpPlan(request, claimed: nil, folder: "/").workerArguments(1).suffix(2)) == [
                "--log-level", "debug",
            ])
    }

    @Test func `hands on the variables of the loop and of its processes, and none that would make them wait`() throws {
        let kept = ["PATH": "/bin", "LOOP_SITE": "http://x/", "LOOP_SNAPSHOT_EVERY": "500", "PGPASSWORD": "p"]
        let own = kept.merging([
            "LOOP_REDUCER": "tcp://other:1", "LOOP_KEY": "k", "LOOP_REDUCER_KEY": "r", "LOOP_KEYS": "d",
            "LOOP_BIND": "tcp://*:1", "LOOP_STANDBY": "1", "LOOP_WAIT": "1", "LOOP_JOURNAL": "memory",
            "LOOP_GROUP": "gpu", "LOOP_HTTP": "127.0.0.1:9710", "LOOP_HTTP_TOKEN": "token",
            "LOOP_ADVERTISE": "tcp://a:1", "LOOP_NAME": "w", "LOOP_INSECURE": "1", "LOOP_CAPACITY": "9",
            "LOOP_JSON": "-", "NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7",
        ]) { $1 }
        let plan = try UpPlan(upRequest(["up", "own"]), claimed: nil, folder: "/", environment: own)
        #expect(plan.environment == kept.merging(["LOOP_LOG_LEVEL": "notice"]) { $1 })
    }

    @Test func `shows the password of a database in no command line`() throws {
        let journal = "postgres://ada:secret@db/loops"
        let request = try upRequest(["up", "own", "--journal", journal])
        let plan = try UpPlan(request, claimed: nil, folder: "/", environment: [:])
        #expect(!(plan.reducerArguments + plan.workerArguments(1)).contains { $0.contains("secret") })
        #expect(plan.environment["LOOP_JOURNAL"] == journal)
    }

    @Test(
        arguments: [
            (nil, "own.journal"), ("memory", nil), ("a", "a"),
            ("postgres://ada:secret@db/loops", "postgres://ada@db/loops"), ("postgres://ada:secret@[db", "a database"),
        ] as [(String?, String?)])
    func `says where the loop is kept, but no password`(journal: String?, shown: String?) throws {
        let request = try upRequest(["up", "own"] + (journal.map { ["--journal", $0] } ?? []))
        #expect(try UpPlan(request, claimed: nil, folder: "/").journal == shown)
    }

    @Test func `takes programs and address from the request where it names them`() throws {
        let request = try upRequest([
            "up", "own", "--bind", "ipc:///tmp/own", "--reducer-exe", "a", "--worker-exe", "b", "--insecure",
        ])
        let plan = try UpPlan(request, claimed: nil, folder: "/")
        #expect(plan.reducerProgram == "a")
        #expect(plan.workerProgram == "b")
        #expect(plan.reducer == "ipc:///tmp/own")
        #expect(plan.reducerArguments == ["own", "--bind", "ipc:///tmp/own", "--insecure"])
    }

    @Test func `hands the keys of a folder to the reducer, to the workers and to what asks for the status`() throws {
        let place = TestFolder()
        let request = try upRequest(["up", "own", "--keys", "\(place.path)/keys", "--bind", "tcp://0.0.0.0:7710"])
        let keys = try UpKeys(keepingIn: #require(request.options[UpCommand.keys]))
        let plan = try UpPlan(request, claimed: nil, keys: keys, folder: "/")
        #expect(plan.reducerArguments == ["own", "--bind", "tcp://0.0.0.0:7710", "--keys", "\(place.path)/keys"])
        #expect(
            plan.workerArguments(1) == [
                "own", "--reducer", "tcp://127.0.0.1:7710", "--name", "worker-1", "--key",
                "\(place.path)/keys/up.key_secret", "--reducer-key", "\(place.path)/keys/server.key",
            ])
        #expect(plan.reducer.keys == keys.peer)
        let folder = KeyFolder("\(place.path)/keys")
        #expect(try folder.allowedKeys().keys[keys.peer.own.publicKey]?.roles == [.worker])
        #expect(try folder.serverKeys().map(\.certificate.publicKey) == [keys.peer.reducer])
        #expect(try UpKeys(keepingIn: folder.path) == keys)
    }

    @Test func `leaves the journal to the reducer, unless the request names one`() throws {
        let bound = ["up", "own", "--bind", "ipc:///tmp/own"]
        var request = try upRequest(bound)
        #expect(try UpPlan(request, claimed: nil, folder: "/").reducerArguments == ["own", "--bind", "ipc:///tmp/own"])
        request = try upRequest(bound + ["--journal", "a.journal", "--durability", "os", "--wait", "x"])
        #expect(
            try UpPlan(request, claimed: nil, folder: "/").reducerArguments == [
                "own", "--bind", "ipc:///tmp/own", "--journal", "a.journal", "--durability", "os", "--wait", "x",
            ])
    }

    @Test(arguments: [
        ("tcp://0.0.0.0:7710", "tcp://127.0.0.1:7710"), ("tcp://*:7710", "tcp://127.0.0.1:7710"),
        ("tcp://[::]:7710", "tcp://127.0.0.1:7710"), ("tcp://10.0.0.1:7710", "tcp://10.0.0.1:7710"),
        ("ipc:///run/loop", "ipc:///run/loop"),
    ])
    func `dials a reducer that listens everywhere on loopback`(bind: BindAddress, dialled: ReducerAddress) throws {
        #expect(try UpPlan.dialled(bind) == dialled)
    }

    @Test func `refuses an address whose port workers cannot know`() {
        #expect(throws: UsageError.self) { try UpPlan.dialled("tcp://127.0.0.1:0") }
    }
}

@Suite struct `Claimed ports` {
    @Test func `are kept from another claim until they are given up`() throws {
        let first = try PortClaim()
        let second = try PortClaim()
        #expect(first.port.distance(to: second.port).magnitude >= 3)
        first.giveUp()
        second.giveUp()
    }
}
