import CDarkroomShims
import DarkroomCore
import Dispatch
import Foundation
import SystemPackage

/// One result while it is made: its own filters and its writer, on a thread of its own.
///
/// Sendable, because only its thread uses it from the beginning of `work` to its end. The reader's values that it reads do
/// not change, or only before the last band.
final class VariantRun: @unchecked Sendable {
    private let number: Int
    private let layout: PixelLayout
    private let job: PictureConversion
    /// The filters that turn the picture upright.
    private let turns: [Filter]
    private let filters: [Filter]
    private let reader: any PictureReader
    /// What is done with the rows before the filters, if the rows have not been converted for all results together.
    private let conversion: ColourConversion?
    /// The common filters that change the picture's scale, and the others.
    private let common: [Filter]
    private let commonBytes: Int
    private let tee: BandTee
    private var end: Result<(PictureConversion.Written, StageContext), PictureError>?

    init(
        number: Int, layout: PixelLayout, job: PictureConversion, turns: [Filter] = [],
        filters: [Filter], reader: any PictureReader, conversion: ColourConversion?,
        common: [Filter], commonBytes: Int, tee: BandTee
    ) {
        self.number = number
        self.layout = layout
        self.job = job
        self.turns = turns
        self.filters = filters
        self.reader = reader
        self.conversion = conversion
        self.common = common
        self.commonBytes = commonBytes
        self.tee = tee
    }

    /// Makes all results. The first one has the present thread.
    static func all(_ runs: [VariantRun]) {
        let group = DispatchGroup()
        let slot = darkroom_crash_slot()
        for run in runs.dropFirst() {
            group.enter()
            // Dispatch may have no thread for it while the others wait for it.
            Thread {
                // A crash is attributed to the picture of the first thread.
                let former = darkroom_crash_enter(slot)
                run.work()
                _ = darkroom_crash_enter(former)
                group.leave()
            }.start()
        }
        runs[0].work()
        group.wait()
    }

    private func work() {
        tee.enter(number)
        end = Result { () throws(PictureError) in try write() }
        tee.leave(number)
    }

    private func write() throws(PictureError) -> (PictureConversion.Written, StageContext) {
        let context = try job.steps.context(for: reader)
        // Alone, the common filters would be a part of its own.
        try context.memory.take(
            commonBytes - context.memory.held, for: "the filters of all variants")
        let source = TeeStage(
            tee, number, layout, isChanged: conversion != nil || mayChange(layout))
        let rows: any Stage = conversion.map { InPlaceStage(source, [$0]) } ?? source
        var filtered = try job.steps.chain(turns, then: filters, on: rows, of: reader, context)
        filtered.effective = common + filtered.effective
        let written = try job.write(filtered, of: reader, context, nil)
        try filtered.drain()
        try source.drain()
        return (written, context)
    }

    /// Whether the first stage changes the rows that it borrows, or lends them to one that does.
    private func mayChange(_ layout: PixelLayout) -> Bool {
        guard let first = (turns + filters).first, case .resize(let resize) = first,
            resize.kernel != .nearest
        else { return true }
        return first.keepsScale(of: layout)
    }

    /// The report or the error, after all threads have ended.
    ///
    /// - Parameter common: that of the common filters; nil without any.
    func outcome(_ common: StageContext?) -> PictureVariants.Outcome {
        switch end {
        case .success(let (written, own)):
            .success(job.report(written, of: reader, (common.map { [$0] } ?? []) + [own]))
        case .failure(let error): .failure(job.named(error))
        case nil: preconditionFailure("a result was not made")
        }
    }
}
