import Glibc
import LoopNode
import Testing

@Suite struct `The process and its surroundings` {
    @Test func `variables are read with everything after the first equals sign`() async {
        await #expect(processExitsWith: .success) {
            setenv("LOOP_TEST_VALUE", "a=b=c", 1)
            setenv("LOOP_TEST_EMPTY", "", 1)
            let variables = ProcessEnvironment.current
            precondition(variables["LOOP_TEST_VALUE"] == "a=b=c" && variables["LOOP_TEST_EMPTY"] == "")
        }
    }

    @Test func `programs are found in the folders of the path, in their order`() {
        #expect(ProcessEnvironment.find("sh", path: "/no/such/folder:/bin:/usr/bin") == "/bin/sh")
        #expect(ProcessEnvironment.find("sh", path: "/no/such/folder") == nil)
        #expect(ProcessEnvironment.find("/bin/sh", path: "") == "/bin/sh")
        #expect(ProcessEnvironment.find("/etc/passwd") == nil)
        #expect(ProcessEnvironment.executable.map { access($0, X_OK) } == 0)
    }

    @Test func `the limit of descriptors is raised, but not beyond what is wanted`() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let most = Int(clamping: limit.rlim_max)
            limit.rlim_cur = 100
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            precondition(DescriptorLimit.current == 100)
            precondition(DescriptorLimit.raise(atMost: 90) == 100)
            precondition(DescriptorLimit.raise(atMost: 200) == 200)
            precondition(DescriptorLimit.raise(atMost: .max) == most && DescriptorLimit.current == most)
        }
    }
}
