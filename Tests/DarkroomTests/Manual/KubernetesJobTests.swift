import Foundation
import TestSupport
import Testing
import Yams

@testable import DarkroomClient
@testable import DarkroomFixtures

/// Holds `etc/kubernetes/darkroom-job.yaml` against the rules by which a Kubernetes cluster takes a Job (`JobRules`) and
/// against what the command does. What a pod does is tested by `Tests/slurm/pods.sh`.
struct KubernetesJobTests {
    private static let text = Result { try Repository.text("etc/kubernetes/darkroom-job.yaml") }

    private static func jobs(_ text: String) throws -> [JobRules.Object] {
        try Yams.load_all(yaml: text).map { try #require($0 as? JobRules.Object) }
    }

    @Test func aClusterTakesIt() throws {
        let jobs = try Self.jobs(try Self.text.get())
        #expect(jobs.count == 2)
        for job in jobs { #expect(JobRules.problems(of: job) == []) }
    }

    /// What is changed in the file, and where the rules then find a problem.
    @Test(arguments: [
        ("restartPolicy: Never", "restartPolicy: OnFailure", "spec.template.spec.restartPolicy"),
        ("completionMode: Indexed", "completionMode: NonIndexed", "spec.backoffLimitPerIndex"),
        ("  backoffLimitPerIndex: 20\n", "", "spec.podFailurePolicy.rules[1].action"),
        ("  completions: 16\n", "", "spec.completions"),
        ("maxFailedIndexes: 16", "maxFailedIndexes: 17", "spec.maxFailedIndexes"),
        (
            "podReplacementPolicy: Failed", "podReplacementPolicy: TerminatingOrFailed",
            "spec.podReplacementPolicy"
        ),
        ("action: Count", "action: Retry", "spec.podFailurePolicy.rules[2].action"),
        ("operator: In\n", "operator: Is\n", "spec.podFailurePolicy.rules[1].onExitCodes.operator"),
        ("values: [75]", "values: [0]", "spec.podFailurePolicy.rules[2].onExitCodes.values"),
        ("[3, 64, 65,", "[64, 3, 65,", "spec.podFailurePolicy.rules[1].onExitCodes.values"),
        ("values: [75]", "values: [75, 75]", "spec.podFailurePolicy.rules[2].onExitCodes.values"),
        (
            "containerName: darkroom", "containerName: main",
            "spec.podFailurePolicy.rules[1].onExitCodes.containerName"
        ),
        ("status: \"True\"", "status: true", "spec.podFailurePolicy.rules[0].onPodConditions"),
        (
            "name: shared, mountPath: /shared}", "name: results, mountPath: /shared}",
            "spec.template.spec.containers[0].volumeMounts[1].name"
        ),
        ("parallelism: 16", "paralelism: 16", "spec.paralelism"),
        (
            "readOnlyRootFilesystem", "readOnlyRootFileSystem",
            "spec.template.spec.containers[0].securityContext.readOnlyRootFileSystem"
        ),
        ("  name: darkroom\nspec", "  name: Darkroom\nspec", "metadata.name"),
    ])
    func aClusterRefuses(old: String, new: String, place: String) throws {
        let text = try Self.text.get()
        let range = try #require(text.range(of: old), "\(old)")
        let job = try #require(try Self.jobs(text.replacingCharacters(in: range, with: new)).first)
        #expect(JobRules.problems(of: job) == [place])
    }

    @Test func theShardsAreCountedOnce() throws {
        let job = try #require(try Self.jobs(try Self.text.get()).first)
        let spec = try #require(job["spec"] as? JobRules.Object)
        let container = try #require(JobRules.containers(of: job).first)
        let arguments = try #require(container["args"] as? [String])
        #expect(arguments.contains("auto/\(try #require(spec["completions"] as? Int))"))
    }

    /// An exit code that another attempt would not change fails the index, and no other does.
    @Test func eachExitCodeHasItsAction() throws {
        let job = try #require(try Self.jobs(try Self.text.get()).first)
        var actions: [String: [Int]] = [:]
        for rule in JobRules.failureRules(of: job) {
            let action = try #require(rule["action"] as? String)
            actions[action] = (rule["onExitCodes"] as? JobRules.Object)?["values"] as? [Int] ?? []
        }
        let hopeless: [ClientExit] = [
            .completedWithErrors, .usage, .rejected, .missing, .cannotCreate, .noPermission,
            .configuration,
        ]
        #expect(actions["FailIndex"] == hopeless.map { Int($0.rawValue) })
        #expect(actions["Count"] == [Int(ClientExit.tryAgain.rawValue)])
        #expect(actions["Ignore"] == [])
    }

    /// As strict as the daemon's unit: neither job may do more than it needs.
    @Test func thePodsHaveNoPrivileges() throws {
        for job in try Self.jobs(try Self.text.get()) {
            let pod = JobRules.pod(of: job)
            #expect(pod["automountServiceAccountToken"] as? Bool == false)
            // Variables of a service named darkroom would be refused.
            #expect(pod["enableServiceLinks"] as? Bool == false)
            // More than the 60 seconds of stop.timeout.
            #expect(try #require(pod["terminationGracePeriodSeconds"] as? Int) > 60)
            let context = try #require(pod["securityContext"] as? JobRules.Object)
            #expect(context["runAsNonRoot"] as? Bool == true)
            #expect(
                (context["seccompProfile"] as? JobRules.Object)?["type"] as? String
                    == "RuntimeDefault")
            for container in JobRules.containers(of: job) {
                let own = try #require(container["securityContext"] as? JobRules.Object)
                #expect(own["allowPrivilegeEscalation"] as? Bool == false)
                #expect(own["readOnlyRootFilesystem"] as? Bool == true)
                #expect((own["capabilities"] as? JobRules.Object)?["drop"] as? [String] == ["ALL"])
                let limits = (container["resources"] as? JobRules.Object)?["limits"]
                #expect(Set((limits as? JobRules.Object ?? [:]).keys) == ["cpu", "memory"])
            }
        }
    }
}

/// The rules of `batch/v1` for a Job, as far as the file uses its fields: the fields of each object, and what the API
/// server demands of their values (ValidateJob of Kubernetes 1.29 to 1.33).
enum JobRules {
    typealias Object = [String: Any]

    private static let fields: [String: Set<String>] = [
        "job": ["apiVersion", "kind", "metadata", "spec"],
        "spec": [
            "activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "completionMode",
            "completions", "manualSelector", "maxFailedIndexes", "parallelism", "podFailurePolicy",
            "podReplacementPolicy", "selector", "suspend", "template", "ttlSecondsAfterFinished",
        ],
        "pod": [
            "automountServiceAccountToken", "containers", "enableServiceLinks", "imagePullSecrets",
            "initContainers", "nodeSelector", "priorityClassName", "restartPolicy",
            "securityContext", "serviceAccountName", "terminationGracePeriodSeconds",
            "tolerations", "topologySpreadConstraints", "volumes",
        ],
        "podSecurityContext": [
            "fsGroup", "fsGroupChangePolicy", "runAsGroup", "runAsNonRoot", "runAsUser",
            "seccompProfile", "supplementalGroups",
        ],
        "container": [
            "args", "command", "env", "image", "imagePullPolicy", "name", "resources",
            "securityContext", "volumeMounts", "workingDir",
        ],
        "securityContext": [
            "allowPrivilegeEscalation", "capabilities", "privileged", "readOnlyRootFilesystem",
            "runAsNonRoot", "runAsUser", "seccompProfile",
        ],
    ]

    static func pod(of job: Object) -> Object {
        ((job["spec"] as? Object)?["template"] as? Object)?["spec"] as? Object ?? [:]
    }

    static func containers(of job: Object) -> [Object] {
        pod(of: job)["containers"] as? [Object] ?? []
    }

    static func failureRules(of job: Object) -> [Object] {
        ((job["spec"] as? Object)?["podFailurePolicy"] as? Object)?["rules"] as? [Object] ?? []
    }

    /// The places of what a cluster refuses.
    static func problems(of job: Object) -> [String] {
        unknownFields(of: job) + problemsOfNames(in: job) + problemsOfIndexes(in: job)
            + problemsOfFailures(in: job) + problemsOfVolumes(in: job)
    }

    private static func unknownFields(of job: Object) -> [String] {
        var places: [String] = []
        func look(_ value: Any?, _ kind: String, _ place: String) {
            let unknown = Set((value as? Object ?? [:]).keys).subtracting(fields[kind] ?? [])
            places += unknown.sorted().map { place + $0 }
        }
        look(job, "job", "")
        look(job["spec"], "spec", "spec.")
        let pod = pod(of: job)
        look(pod, "pod", "spec.template.spec.")
        look(pod["securityContext"], "podSecurityContext", "spec.template.spec.securityContext.")
        for (index, container) in containers(of: job).enumerated() {
            let place = "spec.template.spec.containers[\(index)]."
            look(container, "container", place)
            look(container["securityContext"], "securityContext", place + "securityContext.")
        }
        return places
    }

    private static func problemsOfNames(in job: Object) -> [String] {
        var places: [String] = []
        if job["apiVersion"] as? String != "batch/v1" { places.append("apiVersion") }
        if job["kind"] as? String != "Job" { places.append("kind") }
        // With an index and a suffix, a pod's name must still be a host name.
        let name = (job["metadata"] as? Object)?["name"] as? String ?? ""
        if name.count > 50 || name.wholeMatch(of: /[a-z0-9]([-a-z0-9]*[a-z0-9])?/) == nil {
            places.append("metadata.name")
        }
        for (index, container) in containers(of: job).enumerated()
        where !(container["image"] is String) || !(container["name"] is String) {
            places.append("spec.template.spec.containers[\(index)]")
        }
        if containers(of: job).isEmpty { places.append("spec.template.spec.containers") }
        return places
    }

    private static func problemsOfIndexes(in job: Object) -> [String] {
        let spec = job["spec"] as? Object ?? [:]
        var places: [String] = []
        let isIndexed = spec["completionMode"] as? String == "Indexed"
        if isIndexed, !(spec["completions"] is Int) { places.append("spec.completions") }
        if !isIndexed, spec["backoffLimitPerIndex"] != nil {
            places.append("spec.backoffLimitPerIndex")
        } else if let failed = spec["maxFailedIndexes"] as? Int,
            failed > spec["completions"] as? Int ?? .max
        {
            places.append("spec.maxFailedIndexes")
        }
        if spec["podFailurePolicy"] != nil {
            if ![nil, "Failed"].contains(spec["podReplacementPolicy"] as? String) {
                places.append("spec.podReplacementPolicy")
            }
            if pod(of: job)["restartPolicy"] as? String != "Never" {
                places.append("spec.template.spec.restartPolicy")
            }
        }
        return places
    }

    private static func problemsOfFailures(in job: Object) -> [String] {
        let names = containers(of: job).compactMap { $0["name"] as? String }
        let isPerIndex = (job["spec"] as? Object)?["backoffLimitPerIndex"] is Int
        var places: [String] = []
        for (index, rule) in failureRules(of: job).enumerated() {
            let place = "spec.podFailurePolicy.rules[\(index)]"
            let action = rule["action"] as? String
            // Without a limit for each index, FailIndex is a problem of the rule.
            let known = ["Count", "FailJob", "Ignore"] + (isPerIndex ? ["FailIndex"] : [])
            if !known.contains(action ?? "") { places.append(place + ".action") }
            let codes = rule["onExitCodes"] as? Object
            let conditions = rule["onPodConditions"] as? [Object]
            if (codes == nil) == (conditions == nil) { places.append(place) }
            if let codes {
                places += problems(of: codes, names).map { "\(place).onExitCodes.\($0)" }
            }
            for condition in conditions ?? []
            where !(condition["type"] is String)
                || !["True", "False", "Unknown"].contains(condition["status"] as? String)
            {
                places.append(place + ".onPodConditions")
            }
        }
        return places
    }

    private static func problems(of codes: Object, _ names: [String]) -> [String] {
        var places: [String] = []
        if let name = codes["containerName"] as? String, !names.contains(name) {
            places.append("containerName")
        }
        let `operator` = codes["operator"] as? String
        if !["In", "NotIn"].contains(`operator`) { places.append("operator") }
        let values = codes["values"] as? [Int] ?? []
        let isRising = zip(values, values.dropFirst()).allSatisfy { $0 < $1 }
        if values.isEmpty || values.count > 255 || !isRising
            || (`operator` == "In" && values.contains(0))
        {
            places.append("values")
        }
        return places
    }

    /// Each mount names a volume.
    private static func problemsOfVolumes(in job: Object) -> [String] {
        let volumes = (pod(of: job)["volumes"] as? [Object] ?? []).map { $0["name"] as? String }
        var places: [String] = []
        for (index, container) in containers(of: job).enumerated() {
            for (number, mount) in (container["volumeMounts"] as? [Object] ?? []).enumerated()
            where !volumes.contains(mount["name"] as? String) {
                places.append(
                    "spec.template.spec.containers[\(index)].volumeMounts[\(number)].name")
            }
        }
        return places
    }
}
