//! reconcile

pub mod load;
