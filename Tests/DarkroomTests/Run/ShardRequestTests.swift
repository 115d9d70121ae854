import Testing

@testable import DarkroomRun

/// `--shard`, the environment of a cluster, and the plan.
struct ShardRequestTests {
    private typealias Variables = KeyValuePairs<String, String>

    private static func request(
        _ text: String, _ variables: Variables = [:]
    ) throws(ShardRequest.Problem) -> ShardRequest {
        try ShardRequest(text) { name in variables.first { $0.key == name }?.value }
    }

    private static func slurm(
        _ task: String, min: String = "1", step: String = "1", count: String = "16"
    ) -> Variables {
        [
            "SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_MIN": min,
            "SLURM_ARRAY_TASK_STEP": step, "SLURM_ARRAY_TASK_COUNT": count,
        ]
    }

    /// The shard of a first run, whose plan is its own.
    private static func first(_ text: String, _ variables: Variables = [:]) throws -> String {
        let request = try request(text, variables)
        let shards = try #require(request.shards)
        return try request.shard(by: shards).description
    }

    @Test func isWrittenAsNumberAndCount() throws {
        #expect(try Self.first("3/16") == "shard 3 of 16")
        #expect(try Self.first("1/1") == "shard 1 of 1")
        // Whatever the environment says.
        #expect(try Self.first("3/16", Self.slurm("7", count: "8")) == "shard 3 of 16")
    }

    @Test func comesFromSlurm() throws {
        #expect(try Self.first("auto", Self.slurm("3")) == "shard 3 of 16")
        #expect(
            try Self.first("auto", Self.slurm("0", min: "0", count: "8")) == "shard 1 of 8")
        #expect(
            try Self.first("auto", Self.slurm("30", min: "10", step: "5", count: "9"))
                == "shard 5 of 9")
        #expect(try Self.first("auto/20", Self.slurm("3")) == "shard 3 of 20")
    }

    @Test func comesFromKubernetes() throws {
        #expect(try Self.first("auto/16", ["JOB_COMPLETION_INDEX": "0"]) == "shard 1 of 16")
        #expect(try Self.first("auto/16", ["JOB_COMPLETION_INDEX": "15"]) == "shard 16 of 16")
    }

    /// A resubmission of some tasks has another first ID, another count and another step.
    @Test func thePlanCountsAfterTheFirstRun() throws {
        let plan = try #require(
            try Self.request("auto", Self.slurm("10", min: "10", step: "5", count: "9")).shards)
        #expect(
            plan == RunPlan.Shards(count: 9, array: RunPlan.TaskArray(first: 10, step: 5)))
        let again = try Self.request(
            "auto", Self.slurm("50", min: "20", step: "30", count: "2"))
        #expect(try again.shard(by: plan).description == "shard 9 of 9")
        #expect(again.isCountWritten == false)
        let pod = try Self.request("auto", ["JOB_COMPLETION_INDEX": "2"])
        #expect(pod.shards == nil)
        #expect(try pod.shard(by: plan).description == "shard 3 of 9")
        // A plan of shards with numbers.
        let numbers = RunPlan.Shards(count: 16)
        #expect(
            try Self.request("auto", Self.slurm("7", min: "3", step: "4", count: "2"))
                .shard(by: numbers).description == "shard 7 of 16")
    }

    @Test(arguments: [
        "", "3", "/", "3/", "/16", "3/16/1", "a/16", "3/b", "+3/16", "-1/16", "3 /16", "auto/",
        "auto/x", "AUTO", "1/9999999999",
    ])
    func anotherFormIsRefused(text: String) {
        #expect(
            throws: ShardRequest.Problem(
                code: "bad-shard",
                message:
                    "--shard \(text): write a number and a count, for example 3/16, or auto, or "
                    + "auto/16")
        ) { try Self.request(text) }
    }

    @Test(arguments: ["0/16", "17/16", "1/0", "1/100001", "auto/0", "auto/100001"])
    func anotherNumberIsRefused(text: String) {
        #expect(
            throws: ShardRequest.Problem(
                code: "bad-shard",
                message:
                    "--shard \(text): the number is from 1 to the count, and the count at most "
                    + "100000")
        ) { try Self.request(text) }
    }

    @Test func anEnvironmentWithoutShardsIsRefused() {
        #expect(
            throws: ShardRequest.Problem(
                code: "no-shard",
                message:
                    "--shard auto: neither SLURM_ARRAY_TASK_ID (Slurm) nor JOB_COMPLETION_INDEX "
                    + "(Kubernetes) is set. Write the number and the count, for example --shard 3/16"
            )
        ) { try Self.request("auto", ["SLURM_JOB_ID": "7"]) }
        #expect(
            throws: ShardRequest.Problem(
                code: "bad-shard", message: "SLURM_ARRAY_TASK_ID is \"3x\", not a number")
        ) { try Self.request("auto", Self.slurm("3x")) }
    }

    /// The task of an array that has gaps, one before the first, one after the last.
    @Test(arguments: ["12", "5", "55"])
    func aTaskThatIsNoShardIsRefused(task: String) throws {
        let plan = RunPlan.Shards(count: 9, array: RunPlan.TaskArray(first: 10, step: 5))
        let request = try Self.request("auto", Self.slurm(task))
        #expect(
            throws: ShardRequest.Problem(
                code: "no-shard",
                message: "the task \(task) is no shard: the plan has 9 shards, which are the tasks "
                    + "10,15,20,25,30,35,40,45,50")
        ) { try request.shard(by: plan) }
    }

    @Test func aNumberThatThePlanLacksIsRefused() throws {
        #expect(
            throws: ShardRequest.Problem(
                code: "no-shard", message: "there is no shard 17: the plan has 16 shards")
        ) {
            try Self.request("auto", ["JOB_COMPLETION_INDEX": "16"])
                .shard(by: RunPlan.Shards(count: 16))
        }
    }

    @Test(arguments: [
        ([3], "3"), ([3, 7], "3,7"), ([1, 2], "1,2"), ([1, 2, 3, 7, 9, 10, 11], "1-3,7,9-11"),
        ([], ""), (Array(1...1000), "1-1000"),
    ])
    func tasksAreListed(numbers: [Int], list: String) {
        #expect(RunPlan.TaskArray(first: 1, step: 1).list(numbers) == list)
    }

    @Test func tasksAreListedByTheirIDs() {
        #expect(RunPlan.TaskArray(first: 0, step: 1).list([1, 2, 3, 8]) == "0-2,7")
        #expect(RunPlan.TaskArray(first: 10, step: 5).list([1, 2, 3]) == "10,15,20")
    }
}
