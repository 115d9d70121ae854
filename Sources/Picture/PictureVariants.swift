import DarkroomCore
import Foundation
package import SystemPackage

/// One of several results of a picture.
package struct PictureVariant {
    /// All its filters; those at the beginning are the same for all results.
    package let filters: [Filter]
    /// An empty file. It is neither synced nor closed.
    package let output: FileDescriptor
    /// The name of the file in messages.
    package let outputName: String
    package let options: OutputOptions
    package let handOver: HandOverFile?
    /// Receives a small copy of the result.
    package let preview: PicturePreview?
    /// Opens the pixels of another image, for `overlay`.
    package let openImage: StageContext.ImageOpener

    package init(
        filters: [Filter], output: FileDescriptor, outputName: String,
        options: OutputOptions = OutputOptions(), handOver: HandOverFile? = nil,
        preview: PicturePreview? = nil,
        openImage: @escaping StageContext.ImageOpener = StageContext.noImage
    ) {
        self.filters = filters
        self.output = output
        self.outputName = outputName
        self.options = options
        self.handOver = handOver
        self.preview = preview
        self.openImage = openImage
    }

    var result: PictureResult {
        PictureResult(
            file: output, name: outputName, options: options, handOver: handOver, preview: preview)
    }
}

/// The pipeline of a picture with several results: it is read once, the common filters run once, and their rows go
/// through the filters and the writer of each result, in step (`BandTee`).
///
/// Each result has the bytes that `PicturePipeline.run` writes for it alone, and the same report or error. This decides
/// how a JPEG is decoded. Alone, a picture that is reduced first is decoded at a smaller size (`ReducedDecoding`), which
/// changes pixels. So results that need several sizes get each its own: usual pictures are decoded at all of them at
/// once (`JPEGViews`). Of unusual ones, and if the data are damaged, each size is read by itself, one after the other.
///
/// A result fails alone: if a filter, the writer or the file of one fails, the others continue. If the source or a
/// common filter fails, all fail.
package struct PictureVariants {
    let inputName: String
    let variants: [PictureVariant]
    /// Everything up to the last common filter.
    private let trunk: PictureSteps
    let branches: [PictureSteps]
    let sourcePreview: PicturePreview?

    /// - Parameters:
    ///   - inputName: the name of the source in messages, without its query and credentials.
    ///   - commonFilters: the number of filters at the beginning that are the same for all results.
    ///   - sourcePreview: receives a small copy of the source, upright.
    ///   - checkpoint: returns false to stop with `PictureError.Code.cancelled`. Several threads may call it at once.
    package init(
        of inputName: String, autoOrient: Bool = true, commonFilters: Int,
        _ variants: [PictureVariant], limits: PictureLimits = PictureLimits(),
        cores: Cores = .shared, stage: @escaping PicturePipeline.StageMaker = FilterStage.make,
        sourcePreview: PicturePreview? = nil,
        checkpoint: @escaping @Sendable () -> Bool = { true }
    ) {
        self.inputName = inputName
        self.variants = variants
        self.sourcePreview = sourcePreview
        let common = variants[0].filters.prefix(commonFilters)
        precondition(variants.allSatisfy { $0.filters.prefix(commonFilters) == common })
        trunk = PictureSteps(
            autoOrient: autoOrient, filters: Array(common), limits: limits, cores: cores,
            openImage: variants[0].openImage, stage: stage, sourcePreview: sourcePreview,
            checkpoint: checkpoint)
        branches = variants.map {
            PictureSteps(
                autoOrient: autoOrient, filters: $0.filters, limits: limits, cores: cores,
                openImage: $0.openImage, stage: stage, checkpoint: checkpoint)
        }
    }

    package typealias Outcome = Result<PictureReport, PictureError>

    /// Reads the picture `input` and writes all results.
    ///
    /// - Parameters:
    ///   - input: the picture. A file must be a regular one.
    ///   - admit: receives the maximum number of bytes of memory for all results together, before anything but the header
    ///     is read; throws to stop. It is called again for each size that is read by itself.
    /// - Throws: an error that concerns all results: of the header, a common filter or `admit`. Then some may have been
    ///   written.
    package func run(
        input: PictureInput, admit: PicturePipeline.Admission? = nil
    ) throws(PictureError) -> [Outcome] {
        trunk.cores.enter()
        defer { trunk.cores.leave() }
        do throws(PictureError) {
            let withPalettes = try membersWithPalettes(of: input)
            let sizes = try sizes(of: input, without: withPalettes)
            if sizes.count > 1, let outcomes = try runAtOnce(input, sizes, admit) {
                return outcomes
            }
            var outcomes = [Outcome?](repeating: nil, count: variants.count)
            for member in withPalettes {
                try input.rewind()
                outcomes[member] = try alone(input, member, admit)
            }
            for (_, members) in sizes {
                try input.rewind()
                let results = try pass(input, members, admit)
                for (member, result) in zip(members, results) { outcomes[member] = result }
            }
            return outcomes.map { outcome in
                outcome ?? .failure(PictureError(.cancelled, "\(inputName): it was left out"))
            }
        } catch {
            throw error.naming(inputName, or: [])
        }
    }

    /// The results by the factor by which their picture is reduced when it is decoded, the smallest factor first.
    private func sizes(
        of input: PictureInput, without others: [Int]
    ) throws(PictureError) -> [(divisor: Int, members: [Int])] {
        let all = variants.indices.filter { !others.contains($0) }
        if all.isEmpty { return [] }
        guard trunk.filters.isEmpty, all.count > 1 else { return [(1, all)] }
        try input.rewind()
        var divisors = variants.map { _ in 1 }
        _ = try PictureDecoder.reader(
            of: input, name: inputName, limits: trunk.limits,
            divisor: { width, height, orientation in
                divisors = branches.map {
                    $0.divisor(width: width, height: height, orientation: orientation)
                }
                return divisors.min() ?? 1
            }, checkpoint: trunk.checkpoint)
        return Set(divisors).sorted().map { divisor in
            (divisor, all.filter { divisors[$0] == divisor })
        }
    }

    // MARK: One size

    /// Reads the picture once, for some results.
    private func pass(
        _ input: PictureInput, _ members: [Int], _ admit: PicturePipeline.Admission?
    ) throws(PictureError) -> [Outcome] {
        // Any of the members chooses the divisor, and all choose the same.
        let reader = try branches[members[0]].open(input, name: inputName)
        if let admit { try admit(try need(of: reader, members)) }
        let context = try trunk.context(for: reader)
        var trunk = trunk
        // The first size is the largest one.
        if sourcePreview?.layout != nil { trunk.sourcePreview = nil }
        let ahead = reader.canBeReadAhead ? ReadAhead(reader, trunk.cores) : nil
        defer { ahead?.close() }
        let common = try trunk.filtered(ahead ?? reader, of: reader, context)
        ahead?.begin()
        let source = StageTeeSource(common.stage)
        let tee = try BandTee(
            source, lanes: members.map { _ in 0 }, cores: trunk.cores)
        let runs = members.enumerated().map { number, member in
            VariantRun(
                number: number, layout: source.layouts[0], steps: branches[member],
                filters: rest(of: member, decodedBy: reader),
                result: variants[member].result, reader: reader, common: common.effective,
                commonBytes: context.memory.held, tee: tee)
        }
        VariantRun.all(runs)
        // The results are decided. An error in the rest of the source concerns its copy only.
        try? common.drain()
        return runs.map { $0.outcome(inputName, context.remarks.all) }
    }

    /// The filters of a result that are not common.
    private func rest(of member: Int, decodedBy reader: any PictureReader) -> [Filter] {
        let filters = variants[member].filters
        // If there are common ones, the first of them knows how the picture was reduced.
        guard trunk.filters.isEmpty else { return Array(filters.dropFirst(trunk.filters.count)) }
        return trunk.reduction(of: reader, divisor: reader.divisor).known(to: filters)
    }

    /// The memory for all results together.
    private func need(
        of reader: any PictureReader, _ members: [Int]
    ) throws(PictureError) -> Int {
        let source = PeakMemory.Source(reader)
        // If a common filter fails, nothing else is done.
        let (common, layout) =
            PeakMemory.beginning(
                of: source, autoOrient: trunk.autoOrient, filters: trunk.filters,
                limits: trunk.limits, cores: trunk.cores) ?? (0, source.layout)
        var bytes = common
        for member in members {
            let alone = try branches[member].peak(of: source, variants[member].result)
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
        _ admit: PicturePipeline.Admission?
    ) throws(PictureError) -> [Outcome]? {
        try input.rewind()
        let reader = try JPEGReader(
            input, name: inputName, limits: trunk.limits,
            divisor: { _, _, _ in sizes[0].divisor }, views: sizes.map(\.divisor),
            checkpoint: trunk.checkpoint)
        guard let source = JPEGViews(reader) else { return nil }
        let lanes = variants.indices.map { variant in
            sizes.firstIndex { $0.members.contains(variant) } ?? 0
        }
        if let admit { try admit(try need(of: reader, source, lanes, sizes.map(\.divisor))) }
        let tee = try BandTee(source, lanes: lanes, cores: trunk.cores)
        // Each size is turned upright for itself.
        let turns = trunk.autoOrient ? reader.orientation.filters : []
        // The largest size gives the copy of the source.
        let looking = lanes.firstIndex(of: 0)
        let runs = variants.indices.map { number in
            var steps = branches[number]
            if number == looking { steps.sourcePreview = sourcePreview }
            let reduction = steps.reduction(of: reader, divisor: sizes[lanes[number]].divisor)
            return VariantRun(
                number: number, layout: source.layouts[lanes[number]], steps: steps, turns: turns,
                filters: reduction.known(to: variants[number].filters),
                result: variants[number].result, reader: reader, common: [],
                commonBytes: reader.heldBytes, tee: tee)
        }
        VariantRun.all(runs)
        guard !source.isDoubtful else {
            for variant in variants {
                try Self.empty(variant.output, variant.outputName)
                if let handOver = variant.handOver { try Self.empty(handOver.file, handOver.name) }
            }
            return nil
        }
        return runs.map { $0.outcome(inputName, []) }
    }

    private static func empty(_ file: FileDescriptor, _ name: String) throws(PictureError) {
        guard ftruncate(file.rawValue, 0) == 0, lseek(file.rawValue, 0, SEEK_SET) == 0 else {
            throw PictureError(
                .writeFailed, "\(name): emptying the file", Errno(rawValue: errno))
        }
    }

    /// The memory for all results together.
    private func need(
        of reader: JPEGReader, _ source: JPEGViews, _ lanes: [Int], _ divisors: [Int]
    ) throws(PictureError) -> Int {
        func beginning(_ source: PeakMemory.Source) -> Int {
            PeakMemory.beginning(
                of: source, autoOrient: false, filters: [], limits: trunk.limits,
                cores: trunk.cores)?.bytes ?? 0
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
            let alone = try branches[number].peak(of: views[lane], variants[number].result)
            bytes += max(0, (alone ?? 0) - beginning(views[lane]))
        }
        return bytes + BandTee.bytes(source, lanes: lanes)
    }
}

extension PictureSteps {
    /// The factor by which a picture is reduced when it is decoded for these steps.
    func divisor(width: Int, height: Int, orientation: Orientation) -> Int {
        ReducedDecoding.divisor(
            width: width, height: height, orientation: autoOrient ? orientation : .topLeft,
            filters: filters)
    }
}
