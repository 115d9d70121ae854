/// How many pictures are filtered at once, and whose.
///
/// So many as `width` says are filtered of whoever is next. Nothing bounds the time that a picture takes, so a place that
/// is free again cannot be waited for. Therefore a few more are kept: of these a picture of a batch that has none at work
/// gets one, and the others are for owners who have none at work. The cores are shared with those that were there before.
///
/// What is counted are all that are at work. So a picture in a kept place counts as any other once one of the others has
/// ended, and owners come to have as many at work as each other.
///
/// The bound: an owner who has nothing at work gets a place at once, unless `keptForOwners` others have got one so while
/// the other places were taken. Of an owner, one batch more than those that share the other places does.
struct FilterPlaces: Sendable, Equatable {
    /// At least 1.
    var width: Int
    /// For batches that have nothing at work, those of idle owners included.
    var keptForBatches = 1
    /// For owners who have nothing at work.
    var keptForOwners = BatchSettings.placesOfIdleOwners

    /// Who may have a place where so many are taken; nil for nobody.
    func entrants(taken: Int) -> FairOrder.Entrants? {
        if taken < width { return .all }
        switch taken - width {
        case ..<keptForBatches: return .idleBatches
        case ..<(keptForBatches + keptForOwners): return .idleOwners
        default: return nil
        }
    }
}
