/// How many pictures are filtered at once, and for whom.
///
/// `width` pictures are filtered for the owners and batches whose turn it is. The time of a picture has no limit, so
/// others cannot wait until a place becomes free. Therefore a few more places are kept: one for a picture of a batch
/// without a picture in work, the others for owners without one. They share the cores with the pictures that were there
/// before.
///
/// All pictures in work are counted. So a picture in a kept place counts as any other after one of the others has
/// ended, and over time each owner gets the same number of places.
///
/// The guarantee: an owner without a picture in work gets a place at once, unless `keptForOwners` other owners have got
/// one in this way while the other places were taken. If the batches of one owner share the other places, one more
/// batch of this owner gets one.
package struct FilterSlots: Sendable, Equatable {
    /// At least 1.
    package var width: Int
    /// For batches with nothing in work, including those of idle owners.
    package var keptForBatches: Int
    /// For owners with nothing in work.
    package var keptForOwners: Int

    package init(width: Int, keptForBatches: Int = 1, keptForOwners: Int) {
        self.width = width
        self.keptForBatches = keptForBatches
        self.keptForOwners = keptForOwners
    }

    /// Who may get a place if `taken` places are taken; nil for nobody.
    func entrants(taken: Int) -> FairShare.Entrants? {
        if taken < width { return .all }
        switch taken - width {
        case ..<keptForBatches: return .idleBatches
        case ..<(keptForBatches + keptForOwners): return .idleOwners
        default: return nil
        }
    }
}
