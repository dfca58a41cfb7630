//! Where the canonical fields of a resource are written.

use crate::diag::Location;

/// Places by canonical field (`instructions`, `labels.team`), sorted. A resource has a handful of them and a project
/// thousands of resources, so they stand side by side and not in the nodes of a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places(Vec<(Box<str>, Location)>);

impl Places {
    /// The place of a field, if it is written.
    pub fn get(&self, field: &str) -> Option<&Location> {
        Some(&self.0[self.find(field).ok()?].1)
    }

    /// Sets the place of a field.
    pub fn insert(&mut self, field: impl Into<Box<str>>, at: Location) {
        let field = field.into();
        match self.find(&field) {
            Ok(i) => self.0[i].1 = at,
            Err(i) => self.0.insert(i, (field, at)),
        }
    }

    /// All places, in the order of their fields.
    pub fn values(&self) -> impl Iterator<Item = &Location> {
        self.0.iter().map(|(_, at)| at)
    }

    fn find(&self, field: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(field))
    }
}

impl FromIterator<(Box<str>, Location)> for Places {
    /// Of one field, the last place counts.
    fn from_iter<T: IntoIterator<Item = (Box<str>, Location)>>(all: T) -> Self {
        let mut places: Vec<_> = all.into_iter().collect();
        places.reverse();
        places.sort_by(|(a, _), (b, _)| a.cmp(b));
        places.dedup_by(|(later, _), (kept, _)| later == kept);
        places.shrink_to_fit();
        Self(places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_field_the_last_place_counts() {
        let at = |line: u32| Location { line, ..Location::file("a.yaml") };
        let mut places: Places = [("model", 3), ("description", 1), ("model", 4)]
            .map(|(f, line)| (f.into(), at(line)))
            .into_iter()
            .collect();
        assert_eq!((places.get("model"), places.get("mode")), (Some(&at(4)), None));
        places.insert("model", at(5));
        places.insert("instructions", at(2));
        assert_eq!(places.values().map(|at| at.line).collect::<Vec<_>>(), [1, 2, 5]);
    }
}
