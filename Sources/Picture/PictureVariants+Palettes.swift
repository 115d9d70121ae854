import SystemPackage

/// Results of a picture with a palette that may keep it.
extension PictureVariants {
    /// The results that may keep the palette of the picture. Their rows are indices, which nothing else can use.
    func membersWithPalettes(of input: PictureInput) throws(PictureError) -> [Int] {
        let mayKeep = jobs.indices.filter {
            jobs[$0].steps.options.format.encoder.usesPalette
                && jobs[$0].steps.filters.allSatisfy(\.isPointOperation)
        }
        guard let first = mayKeep.first else { return [] }
        let reader = try jobs[first].steps.open(input, name: jobs[first].name)
        return mayKeep.filter { jobs[$0].steps.keepsPalette(of: reader, jobs[$0].result) }
    }

    /// Reads the picture for one result.
    func alone(
        _ input: PictureInput, _ member: Int, _ admit: PicturePipeline.Admission
    ) -> PicturePipeline.Attempt<Outcome> {
        var job = jobs[member]
        // One copy of the source is enough.
        if sourcePreview?.layout == nil { job.steps.sourcePreview = sourcePreview }
        do throws(PictureError) {
            return try PicturePipeline.attempt(job, input, admit: admit).map(Outcome.success)
        } catch {
            return .made(.failure(error))
        }
    }
}
