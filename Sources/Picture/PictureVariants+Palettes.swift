import SystemPackage

/// Results of a picture with a palette that may keep it.
extension PictureVariants {
    /// The results that may keep the palette of the picture. Their rows are indices, which nothing else can use.
    func membersWithPalettes(
        of input: PictureInput
    ) throws(PictureError) -> [Int] {
        let mayKeep = jobs.indices.filter {
            jobs[$0].steps.options.format.encoder.usesPalette
                && jobs[$0].steps.filters.allSatisfy(\.looksAtOnePixel)
        }
        guard let first = mayKeep.first else { return [] }
        let reader = try jobs[first].steps.open(input, name: jobs[first].name)
        return mayKeep.filter { jobs[$0].steps.keepsPalette(of: reader, jobs[$0].result) }
    }

    /// Reads the picture for one result.
    func alone(
        _ input: PictureInput, _ member: Int, _ admit: PicturePipeline.Admission?
    ) throws(PictureError) -> Outcome {
        var job = jobs[member]
        // One copy of the source is enough.
        if sourcePreview?.layout == nil { job.steps.sourcePreview = sourcePreview }
        var refusal: PictureError?
        let outcome = Outcome { () throws(PictureError) in
            try PicturePipeline.develop(
                job, input,
                admit: { bytes throws(PictureError) in
                    do throws(PictureError) {
                        try admit?(bytes)
                    } catch {
                        refusal = error
                        throw error
                    }
                })
        }
        // That concerns all.
        if let refusal { throw refusal }
        return outcome
    }
}
