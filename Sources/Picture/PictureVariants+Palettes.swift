import SystemPackage

/// Results of a picture with a palette that may keep it.
extension PictureVariants {
    /// The results that may keep the palette of the picture. Their rows are indices, which nothing else can use.
    func membersWithPalettes(
        of input: PictureInput
    ) throws(PictureError) -> [Int] {
        let mayKeep = variants.indices.filter {
            variants[$0].result.options.format == .png
                && branches[$0].filters.allSatisfy(\.looksAtOnePixel)
        }
        guard let first = mayKeep.first else { return [] }
        let reader = try branches[first].open(input, name: inputName)
        return mayKeep.filter { branches[$0].keepsPalette(of: reader, variants[$0].result) }
    }

    /// Reads the picture for one result.
    func alone(
        _ input: PictureInput, _ member: Int, _ admit: PicturePipeline.Admission?
    ) throws(PictureError) -> Outcome {
        var steps = branches[member]
        // One copy of the source is enough.
        if sourcePreview?.layout == nil { steps.sourcePreview = sourcePreview }
        var refusal: PictureError?
        let outcome = Outcome { () throws(PictureError) in
            try PicturePipeline.develop(
                inputName, steps, variants[member].result,
                admit: { bytes throws(PictureError) in
                    do throws(PictureError) {
                        try admit?(bytes)
                    } catch {
                        refusal = error
                        throw error
                    }
                }, input)
        }
        // That concerns all.
        if let refusal { throw refusal }
        return outcome
    }
}
