import DarkroomAnswer
import Testing

@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Every cell of the table of stages: which stage leads to which, and what `Batch.move` changes with it.
struct ImageStageTests {
    /// The stages that a stage leads to, as in the table.
    private static let next: [ImageStage: Set<ImageStage>] = [
        .new: [
            .waits(.queue), .waits(.turn), .waits(.filter), .downloading, .delivering, .recording,
            .ended,
        ],
        .waits(.queue): [.new, .waits(.turn), .downloading, .recording, .ended],
        .waits(.turn): [.new, .waits(.queue), .downloading, .recording, .ended],
        .downloading: [.new, .waits(.queue), .waits(.turn), .waits(.filter), .recording],
        .waits(.filter): [.new, .filtering, .ended],
        .filtering: [.waits(.queue), .waits(.filter), .delivering, .recording],
        .delivering: [.recording],
        .recording: [.waits(.filter), .ended],
        .ended: [],
    ]

    @Test(arguments: ImageStage.allCases, ImageStage.allCases)
    func leadsTo(stage: ImageStage, next: ImageStage) {
        #expect(stage.leads(to: next) == (Self.next[stage]?.contains(next) == true))
    }

    /// A batch with one image in a stage, reached by the shortest way.
    private func batch(_ stage: ImageStage, tries: Int, _ pool: inout Pool) -> Batch {
        let manifest = Manifest(images: [Manifest.Image(name: "i", origin: .source("s"))])
        var batch = Batch(key: 1, prepared: .new("b", manifest, owner: 7))
        var attempts = DownloadAttempts()
        attempts.count = tries
        attempts.note = ImageStatus.Download(attempts: tries)
        batch.attempts[0] = attempts
        let way: [ImageStage: [ImageStage]] = [
            .new: [], .filtering: [.waits(.filter), .filtering], .ended: [.recording, .ended],
        ]
        for step in way[stage] ?? [stage] { batch.move(0, to: step, result: failed, &pool) }
        return batch
    }

    private var failed: ImageStatus { ImageStatus(name: "i", state: .failed) }

    private static func pool() -> Pool {
        Pool(
            BoardSettings(
                window: 8, saturation: 8, retryPolicy: DownloadRetryPolicy(),
                downloads: DownloadFairQueue.Limits(places: 4, perHost: 2),
                filters: FilterSlots(width: 2, keptForOwners: 0), memory: 1 << 30),
            Board.Bounds())
    }

    private static let level = Level(.normal, .default).index

    @Test(arguments: ImageStage.allCases, ImageStage.allCases)
    func moves(from stage: ImageStage, to next: ImageStage) {
        guard stage.leads(to: next) else { return }
        for tries in 0...1 {
            var pool = Self.pool()
            var batch = batch(stage, tries: tries, &pool)
            _ = pool.takeRequests()
            let attempts = batch.status.images[0].attempts
            let before = batch.status.images[0].state
            batch.move(0, to: next, result: failed, &pool)
            let image = batch.status.images[0]

            #expect(batch.stage(of: 0) == next)
            let visible: ImageState =
                switch next {
                case .new: .new
                case .waits(.queue), .waits(.turn): tries > 0 ? .downloading : .new
                case .downloading: .downloading
                case .waits(.filter): .downloaded
                case .filtering, .delivering: .filtering
                case .recording: before
                case .ended: .failed
                }
            #expect(image.state == visible)
            #expect(batch.status.counts[visible] == 1 && batch.status.counts.total == 1)

            let hasPlace = [.waits(.queue), .downloading, .waits(.filter), .filtering, .recording]
                .contains(next)
            #expect(pool.places[Self.level] == (hasPlace ? 1 : 0))
            #expect(pool.placesOfOwner[Self.level][7] ?? 0 == (hasPlace ? 1 : 0))
            #expect(pool.waitingPlaces[Self.level] == (next == .waits(.turn) ? 1 : 0))
            #expect(batch.live.workingCount == (hasPlace && next != .recording ? 1 : 0))
            #expect(batch.live.deliveringCount == (next == .delivering ? 1 : 0))
            #expect(batch.live.count == (next == .new || next == .ended ? 0 : 1))

            let isAdmitted =
                stage == .new && ![.delivering, .recording, .ended].contains(next)
            let isTakenBack = next == .new && (stage == .waits(.filter) || tries == 0)
            // An ended image has the status that came with its result.
            let counted = next == .ended ? 0 : attempts
            #expect(image.attempts == counted + (isAdmitted ? 1 : 0) - (isTakenBack ? 1 : 0))
            if next == .downloading { #expect(image.times?.downloading != nil) }
            if next == .filtering { #expect(image.times?.filtering != nil) }
            if stage == .downloading, [.waits(.filter), .recording].contains(next) {
                #expect(image.times?.downloaded != nil)
            }
            #expect(batch.unblocked == (next == .new ? [0] : []))
            #expect(isMarked(pool.takeRequests()))
        }
    }

    private func isMarked(_ requests: [Pool.Request]) -> Bool {
        requests.count == 1
            && requests.allSatisfy {
                if case .effect(.statusChanged(1)) = $0 { true } else { false }
            }
    }
}
