import DarkroomCore
import DarkroomManifest

/// Which part of a manifest a run is to work on: the value of `--shard`, with what a cluster's environment adds.
///
/// | value    | environment               | number                        | count                              |
/// |----------|---------------------------|-------------------------------|------------------------------------|
/// | `3/16`   | –                         | 3                             | 16                                 |
/// | `auto`   | an array task of Slurm    | (ID − MIN) / STEP + 1         | the plan's; TASK_COUNT without one |
/// | `auto`   | a pod of an Indexed Job   | JOB_COMPLETION_INDEX + 1      | the plan's                         |
/// | `auto/16`| one of these              | as above                      | 16                                 |
///
/// Slurm tells the first ID, the step and the count of the array that it runs now. If only missing parts are submitted
/// again (`--array=3,7`), they are not those of the first array. So the plan keeps those of the first array, and they
/// count from then on.
package struct ShardRequest: Sendable, Equatable {
    /// What says which part it is.
    enum Part: Sendable, Equatable {
        case number(Int)
        /// The ID of a task of an array.
        case task(Int)
    }

    let part: Part
    /// nil if only a plan can tell it.
    let count: Int?
    /// Whether somebody has written the count. The count of an array does not matter if there is a plan.
    let isCountWritten: Bool
    /// The array that a new plan keeps.
    private(set) var array: RunPlan.TaskArray?

    /// The variables of an array task of Slurm, sbatch(1), and of a pod of a Kubernetes Job.
    private enum Variable {
        static let task = "SLURM_ARRAY_TASK_ID"
        static let first = "SLURM_ARRAY_TASK_MIN"
        static let step = "SLURM_ARRAY_TASK_STEP"
        static let count = "SLURM_ARRAY_TASK_COUNT"
        static let index = "JOB_COMPLETION_INDEX"
    }

    static let variables = [
        Variable.task, Variable.first, Variable.step, Variable.count, Variable.index,
    ]

    /// Why a value cannot be used.
    package struct Problem: Error, Equatable, Sendable {
        package let code: String
        package let message: String
    }
}

extension ShardRequest {
    /// - Parameters:
    ///   - text: `i/n`, `auto` or `auto/n`.
    ///   - variable: the value of a variable of the environment.
    package init(_ text: String, variable: (_ name: String) -> String?) throws(Problem) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count) else { throw Self.badForm(text) }
        guard parts[0] == "auto" else {
            guard parts.count == 2, let number = Self.number(parts[0]),
                let count = Self.number(parts[1])
            else { throw Self.badForm(text) }
            guard Shard(number, of: count) != nil else { throw Self.outOfRange(text) }
            self.init(part: .number(number), count: count, isCountWritten: true)
            return
        }
        var written: Int?
        if parts.count == 2 {
            guard let count = Self.number(parts[1]) else { throw Self.badForm(text) }
            guard Shard(1, of: count) != nil else { throw Self.outOfRange(text) }
            written = count
        }
        if let task = try Self.value(Variable.task, variable) {
            let array = RunPlan.TaskArray(
                first: try Self.value(Variable.first, variable) ?? 1,
                step: max(1, try Self.value(Variable.step, variable) ?? 1))
            let count = try Self.value(Variable.count, variable)
            self.init(
                part: .task(task), count: written ?? count, isCountWritten: written != nil,
                array: array)
        } else if let index = try Self.value(Variable.index, variable) {
            self.init(
                part: .number(index + 1), count: written, isCountWritten: written != nil,
                array: RunPlan.TaskArray(first: 0, step: 1))
        } else {
            throw Problem(
                code: "no-shard",
                message:
                    "--shard \(text): neither \(Variable.task) (Slurm) nor \(Variable.index) (Kubernetes) is "
                    + "set. Write the number and the count, for example --shard 3/16")
        }
    }

    private static func badForm(_ text: String) -> Problem {
        Problem(
            code: "bad-shard",
            message:
                "--shard \(text): write a number and a count, for example 3/16, or auto, or auto/16"
        )
    }

    private static func outOfRange(_ text: String) -> Problem {
        Problem(
            code: "bad-shard",
            message:
                "--shard \(text): the number is from 1 to the count, and the count at most \(Shard.mostCount)"
        )
    }

    /// A number without a sign.
    private static func number(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 9,
            text.utf8.allSatisfy(\.isDigit)
        else { return nil }
        return Int(text)
    }

    private static func value(
        _ name: String, _ variable: (String) -> String?
    ) throws(Problem) -> Int? {
        guard let text = variable(name) else { return nil }
        guard let number = number(text) else {
            throw Problem(code: "bad-shard", message: "\(name) is \"\(text)\", not a number")
        }
        return number
    }

    // MARK: With the plan

    /// What a new plan of the folder has; nil if only an existing plan tells the count.
    var shards: RunPlan.Shards? { count.map { RunPlan.Shards(count: $0, array: array) } }

    /// The part, by the plan of the folder.
    func shard(by plan: RunPlan.Shards) throws(Problem) -> Shard {
        switch part {
        case .number(let number):
            guard let shard = Shard(number, of: plan.count) else {
                throw Problem(
                    code: "no-shard",
                    message: "there is no shard \(number): the plan has \(plan.count) shards")
            }
            return shard
        case .task(let task):
            let array = plan.array ?? RunPlan.TaskArray(first: 1, step: 1)
            guard let number = array.number(of: task), let shard = Shard(number, of: plan.count)
            else {
                throw Problem(
                    code: "no-shard",
                    message:
                        "the task \(task) is no shard: the plan has \(plan.count) shards, which are the tasks "
                        + array.list(Array(1...plan.count)))
            }
            return shard
        }
    }
}
