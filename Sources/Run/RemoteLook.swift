import DarkroomBoard
import DarkroomConfiguration
import DarkroomCore
import DarkroomFetch
import DarkroomWork
import Dispatch
import Synchronization

/// Asks servers whether the contents of URLs are still those of the former run, with conditional requests. If a server
/// sends the content instead, its first byte is enough.
struct RemoteLook: Sendable {
    enum Answer: Sendable, Equatable {
        case same
        case other
        /// The server says that there is nothing any more.
        case gone
        /// The server did not say it, for this reason.
        case failed(String)
    }

    /// Without an identity, the answer is never `same`.
    typealias Question = (url: RemoteURL, identity: RemoteIdentity?)

    private let loaded: ConfigurationLoader.Loaded

    init(_ loaded: ConfigurationLoader.Loaded) { self.loaded = loaded }

    /// The answers, in the order of the questions; nil if the wait for them was stopped.
    ///
    /// - Parameter isStopped: called several times a second.
    func ask(_ questions: [Question], isStopped: () -> Bool) throws(RunError) -> [Answer]? {
        if questions.isEmpty { return [] }
        let settings = loaded.configuration.batchSettings
        let engine: TransferEngine
        do {
            engine = try TransferEngine(settings: loaded.configuration.transferSettings)
        } catch {
            throw .failure(Failure(error))
        }
        let round = Round(
            questions, engine, loaded.configuration.downloads.retryPolicy,
            most: settings.downloadConcurrency, ofHost: settings.perHost)
        round.begin()
        // Completions are called on the engine's thread until it has stopped.
        while !round.waits(0.1) {
            if isStopped() {
                round.end()
                engine.stop()
                return nil
            }
        }
        engine.stop()
        return round.answers
    }

    /// Questions on their way. No host gets more than its share of requests at a time, and none before the end of a pause
    /// that it has asked for.
    private final class Round: Sendable {
        private struct State {
            /// The questions that were not asked, by their hosts.
            var waiting: [ByteString: [Int]]
            var running = 0
            var runningAt: [ByteString: Int] = [:]
            /// How often each question was asked.
            var attempts: [Int: Int] = [:]
            /// The hosts that have asked for a pause, with the number of pauses.
            var pauses: [ByteString: Int] = [:]
            var answers: [Int: Answer] = [:]
            var hasEnded = false
        }

        private let questions: [Question]
        private let hosts: [ByteString]
        private let engine: TransferEngine
        private let policy: DownloadRetryPolicy
        private let most: Int
        private let mostOfHost: Int
        private let state: Mutex<State>
        private let ending = DispatchSemaphore(value: 0)

        init(
            _ questions: [Question], _ engine: TransferEngine, _ policy: DownloadRetryPolicy,
            most: Int, ofHost: Int
        ) {
            self.questions = questions
            self.engine = engine
            self.policy = policy
            self.most = most
            mostOfHost = ofHost
            let hosts = questions.map { question in
                ByteString(Origin(url: question.url)?.host.description ?? "")
            }
            self.hosts = hosts
            state = Mutex(
                State(waiting: Dictionary(grouping: questions.indices.reversed()) { hosts[$0] }))
        }

        var answers: [Answer] {
            state.withLock { state in
                questions.indices.map { state.answers[$0] ?? .failed("it was not asked") }
            }
        }

        /// - Returns: whether all have their answers.
        func waits(_ seconds: Double) -> Bool { ending.wait(timeout: .now() + seconds) == .success }

        /// Nothing is asked any more.
        func end() { state.withLock { $0.hasEnded = true } }

        func begin() {
            for index in state.withLock({ take(&$0) }) { ask(index) }
        }

        private func take(_ state: inout State) -> [Int] {
            if state.hasEnded { return [] }
            var taken: [Int] = []
            for host in Array(state.waiting.keys) where state.pauses[host] == nil {
                while state.running < most, state.runningAt[host, default: 0] < mostOfHost,
                    let index = state.waiting[host]?.popLast()
                {
                    state.running += 1
                    state.runningAt[host, default: 0] += 1
                    state.attempts[index, default: 0] += 1
                    taken.append(index)
                }
                if state.waiting[host]?.isEmpty == true { state.waiting[host] = nil }
            }
            return taken
        }

        private func ask(_ index: Int) {
            let (url, identity) = questions[index]
            do {
                let output = TransferOutput(try UnnamedFile.make(), name: "a temporary file")
                let request = TransferRequest(
                    url: url, output: output, validators: identity?.validators,
                    target: identity?.target, firstBytes: 1)
                engine.start(request) { [self] result in ended(index, result) }
            } catch {
                answered(index, .failed(error.message))
            }
        }

        private func ended(_ index: Int, _ result: Result<TransferReport, FetchError>) {
            switch result {
            case .success(let report):
                let (url, identity) = questions[index]
                let isSame = identity?.isConfirmed(by: report, of: url) ?? false
                answered(index, isSame ? .same : .other)
            case .failure(let error):
                if [404, 410].contains(error.status) { return answered(index, .gone) }
                guard [429, 503].contains(error.status) else {
                    return answered(index, .failed(error.message))
                }
                let attempts = state.withLock { $0.attempts[index] ?? 1 }
                let verdict = policy.verdict(
                    on: Failure(error), retryAfter: error.retryAfter, attempts: attempts,
                    jitter: .random(in: 0...1))
                switch verdict {
                case .final(let failure): answered(index, .failed(failure.message))
                case .again(let delay): pause(index, for: delay)
                }
            }
        }

        /// The host is busy: nothing else is asked of it before this question.
        private func pause(_ index: Int, for delay: Double) {
            let host = hosts[index]
            let next = state.withLock { state in
                state.running -= 1
                state.runningAt[host, default: 1] -= 1
                state.waiting[host, default: []].append(index)
                state.pauses[host, default: 0] += 1
                return take(&state)
            }
            for index in next { ask(index) }
            DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [self] in
                state.withLock { $0.pauses.countDown(host) }
                begin()
            }
        }

        private func answered(_ index: Int, _ answer: Answer) {
            let (next, isLast) = state.withLock { state in
                state.answers[index] = answer
                state.running -= 1
                state.runningAt[hosts[index], default: 1] -= 1
                return (take(&state), state.answers.count == questions.count)
            }
            for index in next { ask(index) }
            if isLast { ending.signal() }
        }
    }
}

extension RemoteIdentity {
    /// Whether the server has said that the content is the same. Some servers do not know conditional requests.
    fileprivate func isConfirmed(by report: TransferReport, of url: RemoteURL) -> Bool {
        let present = RemoteIdentity(report.response, of: url, target: report.target)
        guard report.isNotModified else { return present.map(describes) ?? false }
        // A 304 need not repeat what is known, but must not say something else.
        guard let tag = report.response.entityTag, !tag.isWeak,
            let known = validators.entityTag.flatMap({ EntityTag($0) }), !known.isWeak
        else { return true }
        return tag == known
    }
}
