//! [`Room`]: who may be connected at once. Strangers are those who have not shown a token yet.
//!
//! There is room for so many who have shown one, and for as many besides, so that strangers cannot take all of it. A stranger
//! is only there until somebody needs the place: when all are taken, the one that came first has to go. Whoever has shown
//! a token keeps the place.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

/// Who may be connected at once.
#[derive(Debug)]
pub(super) struct Room {
    /// How many may have shown a token.
    most: usize,
    places: Mutex<Places>,
}

/// The connections by their numbers, the oldest first.
#[derive(Debug, Default)]
struct Places {
    last: u64,
    /// And what tells each that it has to go.
    strangers: BTreeMap<u64, Arc<Notify>>,
    known: BTreeSet<u64>,
}

/// The place of a connection, given back when it ends.
#[derive(Debug)]
pub(super) struct Place {
    visitor: Visitor,
    leave: Arc<Notify>,
}

/// Whoever is at the other end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    room: Arc<Room>,
    number: u64,
}

/// There is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Room {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            places: Mutex::default(),
        })
    }

    /// Takes somebody in, as a stranger.
    ///
    /// # Errors
    /// When as many as may be have shown a token: a stranger could not become one of them.
    pub(super) fn enter(self: &Arc<Self>) -> Result<Place, Full> {
        let mut places = self.places();
        if places.known.len() >= self.most {
            return Err(Full);
        }
        let all = places.known.len() + places.strangers.len();
        if all >= self.most.saturating_mul(2)
            && let Some((_, oldest)) = places.strangers.pop_first()
        {
            oldest.notify_one();
        }
        places.last += 1;
        let number = places.last;
        let leave = Arc::new(Notify::new());
        places.strangers.insert(number, Arc::clone(&leave));
        let visitor = Visitor {
            room: Arc::clone(self),
            number,
        };
        Ok(Place { visitor, leave })
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        // Each change is whole before anything can panic.
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub(super) fn visitor(&self) -> &Visitor {
        &self.visitor
    }

    /// Ends when somebody else needs the place.
    pub(super) async fn is_needed(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.visitor.room.places();
        places.strangers.remove(&self.visitor.number);
        places.known.remove(&self.visitor.number);
    }
}

impl Visitor {
    /// A token was shown: nobody takes the place away any more.
    ///
    /// # Errors
    /// When as many as may be have shown one, or the place was needed a moment before.
    pub(super) fn is_let_in(&self) -> Result<(), Full> {
        let mut places = self.room.places();
        if places.known.contains(&self.number) {
            return Ok(());
        }
        if places.known.len() >= self.room.most || places.strangers.remove(&self.number).is_none() {
            return Err(Full);
        }
        places.known.insert(self.number);
        Ok(())
    }

    pub(super) fn is_known(&self) -> bool {
        self.room.places().known.contains(&self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of those who are there: strangers, and those who have shown a token.
    fn there(room: &Room) -> (Vec<u64>, Vec<u64>) {
        let places = room.places();
        let strangers = places.strangers.keys().copied().collect();
        (strangers, places.known.iter().copied().collect())
    }

    fn enter(room: &Arc<Room>, count: usize) -> Vec<Place> {
        (0..count).map(|_| room.enter().unwrap()).collect()
    }

    #[tokio::test]
    async fn the_stranger_that_came_first_makes_room_and_who_is_known_stays() {
        let room = Room::new(2);
        let crowd = enter(&room, 4);
        crowd[0].visitor().is_let_in().unwrap();
        assert_eq!(there(&room), (vec![2, 3, 4], vec![1]));
        let late = room.enter().unwrap();
        crowd[1].is_needed().await;
        assert_eq!(there(&room), (vec![3, 4, 5], vec![1]));
        assert_eq!(crowd[1].visitor().is_let_in(), Err(Full), "it was too late");
        late.visitor().is_let_in().unwrap();
        late.visitor().is_let_in().unwrap();
        assert_eq!(there(&room), (vec![3, 4], vec![1, 5]));
        assert_eq!(crowd[2].visitor().is_let_in(), Err(Full));
    }

    #[test]
    fn where_all_places_are_taken_by_known_ones_nobody_comes_in_until_one_goes() {
        let room = Room::new(2);
        let mut crowd = enter(&room, 2);
        for place in &crowd {
            place.visitor().is_let_in().unwrap();
        }
        assert_eq!(room.enter().unwrap_err(), Full);
        crowd.pop();
        let late = room.enter().unwrap();
        assert!(!late.visitor().is_known());
        drop((crowd, late));
        assert_eq!(there(&room), (vec![], vec![]));
    }

    #[test]
    fn however_many_come_no_more_are_there_than_there_is_room_for() {
        let room = Room::new(3);
        let crowd = enter(&room, 1_000);
        assert_eq!(there(&room).0.len(), 6);
        drop(crowd);
        assert_eq!(there(&room), (vec![], vec![]));
    }
}
