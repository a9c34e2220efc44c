import LoopNode
import LoopOptions
import Testing

@testable import LoopCommands

@Suite struct `The plan of up` {
    @Test func `gives the reducer its options and the loop's arguments, and workers its address`() throws {
        var request = UpRequest(loop: "linkcheck")
        request.workers = 2
        request.capacity = 3
        request.silenceLimit = "1s"
        request.json = "r.json"
        request.loopArguments = ["--external", "http://x/"]
        let plan = try UpPlan(request, claimed: "tcp://127.0.0.1:7713", folder: "/opt/loop")
        #expect(plan.reducerProgram == "/opt/loop/loop-reducer")
        #expect(
            plan.reducerArguments == [
                "linkcheck", "--bind", "tcp://127.0.0.1:7713", "--silence-limit", "1s", "--json", "r.json",
                "--external",
                "http://x/",
            ])
        #expect(plan.workerProgram == "/opt/loop/loop-effect")
        #expect(
            plan.workerArguments(2) == [
                "linkcheck", "--reducer", "tcp://127.0.0.1:7713", "--name", "worker-2", "--capacity", "3",
            ])
    }

    @Test func `takes programs and address from the request where it names them`() throws {
        var request = UpRequest(loop: "own")
        request.bind = "ipc:///tmp/own"
        request.reducerProgram = "a"
        request.workerProgram = "b"
        request.isInsecure = true
        let plan = try UpPlan(request, claimed: nil, folder: "/")
        #expect(plan.reducerProgram == "a")
        #expect(plan.workerProgram == "b")
        #expect(plan.reducer == "ipc:///tmp/own")
        #expect(plan.reducerArguments == ["own", "--bind", "ipc:///tmp/own", "--insecure"])
    }

    @Test func `leaves the journal to the reducer, unless the request names one`() throws {
        var request = try upRequest(["up", "own"])
        request.bind = "ipc:///tmp/own"
        #expect(try UpPlan(request, claimed: nil, folder: "/").reducerArguments == ["own", "--bind", "ipc:///tmp/own"])
        request = try upRequest(["up", "own", "--journal", "a.journal", "--durability", "os", "--wait", "x"])
        request.bind = "ipc:///tmp/own"
        #expect(
            try UpPlan(request, claimed: nil, folder: "/").reducerArguments == [
                "own", "--bind", "ipc:///tmp/own", "--journal", "a.journal", "--durability", "os", "--wait", "x",
            ])
    }

    @Test(arguments: [
        ("tcp://0.0.0.0:7710", "tcp://127.0.0.1:7710"), ("tcp://*:7710", "tcp://127.0.0.1:7710"),
        ("tcp://[::]:7710", "tcp://[::1]:7710"), ("tcp://10.0.0.1:7710", "tcp://10.0.0.1:7710"),
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
