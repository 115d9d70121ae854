import DarkroomCore
import Foundation
import SystemPackage

/// The pipeline of a picture with several results: it is read once, the common filters run once, and their rows go
/// through the filters and the writer of each result, in step (`BandTee`).
///
/// Each result has the bytes that `PicturePipeline.run` writes for it alone, and the same report or error. This decides
/// how a JPEG is decoded. Alone, a picture that is reduced first is decoded at a smaller size (`ReducedDecoding`), which
/// changes pixels. So results that need several sizes get each its own: usual pictures are decoded at all of them at
/// once (`JPEGViews`). Of unusual ones and of WebP, and if the data are damaged, each size is read by itself, one after the
/// other.
///
/// A result fails alone: if a filter, the writer or the file of one fails, the others continue. If the source or a
/// common filter fails, all fail.
package struct PictureVariants {
    let jobs: [PictureConversion]
    /// Everything up to the last common filter.
    private let trunk: PictureSteps
    /// Whether all results have the same colour space.
    private let hasOneProfile: Bool
    var sourcePreview: PicturePreview? { trunk.sourcePreview }

    /// - Parameters:
    ///   - jobs: those of one picture. They differ in their results and these steps: the filters, the options, and what
    ///     opens other images.
    ///   - commonFilters: the number of filters at the beginning that are the same for all results.
    package init(_ jobs: [PictureConversion], commonFilters: Int) {
        var trunk = jobs[0].steps
        // Filters in different colour spaces have nothing in common.
        let profile = trunk.options.profile
        hasOneProfile = jobs.allSatisfy { $0.steps.options.profile == profile }
        if !hasOneProfile { trunk.options.profile = .keep }
        let common = trunk.filters.prefix(hasOneProfile ? commonFilters : 0)
        precondition(jobs.allSatisfy { $0.steps.filters.prefix(common.count) == common })
        trunk.filters = Array(common)
        self.trunk = trunk
        self.jobs = jobs.map { job in
            var job = job
            job.steps.sourcePreview = nil
            return job
        }
    }

    package typealias Outcome = Result<PictureReport, PictureError>

    /// Reads the picture `input` and writes all results.
    ///
    /// - Parameters:
    ///   - input: the picture. A file must be a regular one.
    ///   - admit: receives the maximum number of bytes of memory for all results together, before anything but the header
    ///     is read. It is called again for each size that is read by itself.
    /// - Throws: an error that concerns all results: of the header or a common filter. Then some may have been written.
    package func run(
        input: PictureInput, admit: PicturePipeline.Admission
    ) throws(PictureError) -> PicturePipeline.Attempt<[Outcome]> {
        trunk.cores.enter()
        defer { trunk.cores.leave() }
        do throws(PictureError) {
            let withPalettes = try membersWithPalettes(of: input)
            let sizes = try sizes(of: input, without: withPalettes)
            if Set(sizes.map(\.divisor)).count == sizes.count, sizes.count > 1,
                let attempt = try runAtOnce(input, sizes, admit)
            {
                return attempt
            }
            var outcomes = [Outcome?](repeating: nil, count: jobs.count)
            for member in withPalettes {
                try input.rewind()
                switch alone(input, member, admit) {
                case .made(let outcome): outcomes[member] = outcome
                case .needs(let bytes): return .needs(bytes: bytes)
                }
            }
            for (_, members) in sizes {
                try input.rewind()
                switch try pass(input, members, admit) {
                case .made(let results):
                    for (member, result) in zip(members, results) { outcomes[member] = result }
                case .needs(let bytes): return .needs(bytes: bytes)
                }
            }
            return .made(
                outcomes.map { outcome in
                    outcome
                        ?? .failure(PictureError(.cancelled, "\(jobs[0].name): it was left out"))
                })
        } catch {
            throw error.naming(jobs[0].name, or: [])
        }
    }

    /// The results by the factor by which their picture is reduced when it is decoded, the smallest factor first. CMYK is
    /// read for each colour space by itself.
    private func sizes(
        of input: PictureInput, without others: [Int]
    ) throws(PictureError) -> [(divisor: Int, members: [Int])] {
        let all = jobs.indices.filter { !others.contains($0) }
        if all.isEmpty { return [] }
        guard trunk.filters.isEmpty, all.count > 1 else { return [(1, all)] }
        try input.rewind()
        var divisors = jobs.map { _ in 1 }
        let reader = try PictureDecoder.reader(
            of: decoderInput(input) { width, height, orientation in
                divisors = jobs.map {
                    $0.steps.divisor(width: width, height: height, orientation: orientation)
                }
                return divisors.min() ?? 1
            })
        let profiles: [OutputProfile?] =
            reader.facts.isCMYK && !hasOneProfile ? OutputProfile.allCases : [nil]
        return Set(divisors).sorted().flatMap { divisor in
            profiles.map { profile in
                let members = all.filter { member in
                    divisors[member] == divisor
                        && (profile == nil || jobs[member].steps.options.profile == profile)
                }
                return (divisor, members)
            }
        }.filter { !$0.members.isEmpty }
    }

    private func decoderInput(
        _ input: PictureInput, _ divisor: @escaping PictureDecoder.Divisor
    ) -> PictureDecoder.Input {
        PictureDecoder.Input(
            input, name: jobs[0].name, limits: trunk.limits, page: trunk.page, divisor: divisor,
            checkpoint: trunk.checkpoint)
    }

    // MARK: One size

    /// Reads the picture once, for some results.
    private func pass(
        _ input: PictureInput, _ members: [Int], _ admit: PicturePipeline.Admission
    ) throws(PictureError) -> PicturePipeline.Attempt<[Outcome]> {
        // Any of the members chooses the divisor, and all choose the same.
        var opening = jobs[members[0]].steps
        let isUniform = members.allSatisfy {
            jobs[$0].steps.options.profile == opening.options.profile
        }
        if !isUniform { opening.options.profile = .keep }
        let reader = try opening.open(input, name: jobs[0].name)
        let bytes = try need(of: reader, members)
        guard admit(bytes) else { return .needs(bytes: bytes) }
        let context = try trunk.context(for: reader)
        var trunk = trunk
        // The first size is the largest one.
        if sourcePreview?.layout != nil { trunk.sourcePreview = nil }
        let ahead = reader.canBeReadAhead ? ReadAhead(reader, trunk.cores) : nil
        defer { ahead?.close() }
        let common = try trunk.filtered(ahead ?? reader, of: reader, context)
        ahead?.begin()
        let source = StageTeeSource(common.stage)
        let tee = try BandTee(source, lanes: members.map { _ in 0 }, cores: trunk.cores)
        let runs = try members.enumerated().map { (number, member) throws(PictureError) in
            let own = isUniform ? reader : try converted(reader, for: member, input)
            return VariantRun(
                number: number, layout: source.layouts[0], job: jobs[member],
                filters: rest(of: member, decodedBy: reader), reader: own,
                conversion: isUniform ? nil : (own as? ConvertedReader)?.conversion,
                common: common.effective, commonBytes: context.memory.held, tee: tee)
        }
        VariantRun.all(runs)
        // The results are decided. An error in the rest of the source concerns its copy only.
        try? common.drain()
        return .made(runs.map { $0.outcome(context) })
    }

    /// The reader as a result sees it: with the values of its colour space.
    private func converted(
        _ reader: any PictureReader, for member: Int, _ input: PictureInput
    ) throws(PictureError) -> any PictureReader {
        let steps = jobs[member].steps
        return try ConvertedReader.around(
            reader, steps.options.profile, steps.decoderInput(input, name: jobs[0].name))
    }

    /// The filters of a result that are not common.
    private func rest(of member: Int, decodedBy reader: any PictureReader) -> [Filter] {
        let filters = jobs[member].steps.filters
        // If there are common ones, the first of them knows how the picture was reduced.
        guard trunk.filters.isEmpty else { return Array(filters.dropFirst(trunk.filters.count)) }
        return trunk.reduction(of: reader, divisor: reader.divisor).passed(to: filters)
    }

    /// The memory for all results together.
    private func need(of reader: any PictureReader, _ members: [Int]) throws(PictureError) -> Int {
        let source = PeakMemory.Source(reader)
        // If a common filter fails, nothing else is done.
        let (common, layout) = PeakMemory.beginning(of: source, trunk) ?? (0, source.layout)
        var bytes = common
        for member in members {
            let alone = try jobs[member].steps.peak(of: source, jobs[member].result)
            bytes += max(0, (alone ?? 0) - common)
        }
        return bytes + BandTee.bytes(of: layout, borrowers: members.count)
    }
}

extension PictureVariants {
    // MARK: Several sizes at once

    /// Reads a JPEG once, at all sizes that the results need; nil if that is not possible, or if the data are in doubt.
    /// Then nothing has been written.
    private func runAtOnce(
        _ input: PictureInput, _ sizes: [(divisor: Int, members: [Int])],
        _ admit: PicturePipeline.Admission
    ) throws(PictureError) -> PicturePipeline.Attempt<[Outcome]>? {
        try input.rewind()
        guard try InputFormat(of: input, name: jobs[0].name) == .jpeg else { return nil }
        let reader = try JPEGReader(
            decoderInput(input) { _, _, _ in sizes[0].divisor }, views: sizes.map(\.divisor))
        guard let source = JPEGViews(reader) else { return nil }
        let lanes = jobs.indices.map { variant in
            sizes.firstIndex { $0.members.contains(variant) } ?? 0
        }
        let bytes = try need(of: reader, source, lanes, sizes.map(\.divisor))
        guard admit(bytes) else { return .needs(bytes: bytes) }
        let tee = try BandTee(source, lanes: lanes, cores: trunk.cores)
        // Each size is turned upright for itself.
        let turns = trunk.autoOrient ? reader.orientation.filters : []
        // The largest size gives the copy of the source.
        let looking = lanes.firstIndex(of: 0)
        let runs = try jobs.indices.map { (number) throws(PictureError) in
            var job = jobs[number]
            let own = try converted(reader, for: number, input)
            if number == looking { job.steps.sourcePreview = sourcePreview }
            let reduction = job.steps.reduction(of: reader, divisor: sizes[lanes[number]].divisor)
            return VariantRun(
                number: number, layout: source.layouts[lanes[number]], job: job, turns: turns,
                filters: reduction.passed(to: job.steps.filters), reader: own,
                conversion: (own as? ConvertedReader)?.conversion, common: [],
                commonBytes: reader.heldBytes, tee: tee)
        }
        VariantRun.all(runs)
        guard !source.isDoubtful else {
            for result in jobs.map(\.result) {
                try Self.empty(result.file, result.name)
                if let handOver = result.handOver { try Self.empty(handOver.file, handOver.name) }
            }
            return nil
        }
        return .made(runs.map { $0.outcome(nil) })
    }

    private static func empty(_ file: FileDescriptor, _ name: String) throws(PictureError) {
        guard ftruncate(file.rawValue, 0) == 0, lseek(file.rawValue, 0, SEEK_SET) == 0 else {
            throw PictureError(.writeFailed, "\(name): emptying the file", Errno(rawValue: errno))
        }
    }

    /// The memory for all results together.
    private func need(
        of reader: JPEGReader, _ source: JPEGViews, _ lanes: [Int], _ divisors: [Int]
    ) throws(PictureError) -> Int {
        var upright = trunk
        (upright.autoOrient, upright.filters) = (false, [])
        func beginning(_ source: PeakMemory.Source) -> Int {
            PeakMemory.beginning(of: source, upright)?.bytes ?? 0
        }
        let views = zip(source.layouts, divisors).map { layout, divisor in
            var view = PeakMemory.Source(reader)
            view.layout = layout
            view.divisor = divisor
            view.needs = JPEGReader.needs(layout, divisor: divisor)
            return view
        }
        // One reader decodes for all, with the samples of each.
        var bytes = beginning(views[0])
        bytes += views.dropFirst().reduce(0) { $0 + $1.needs.bytes }
        for (number, lane) in lanes.enumerated() {
            let alone = try jobs[number].steps.peak(of: views[lane], jobs[number].result)
            bytes += max(0, (alone ?? 0) - beginning(views[lane]))
        }
        return bytes + BandTee.bytes(source, lanes: lanes)
    }
}
