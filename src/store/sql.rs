//! How our words are written in columns: digests as 32 bytes, kinds, addresses and owners as text.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::op::ActorKind;
use crate::model::{Address, Digest, Kind, Owner};

impl ToSql for Digest {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
    }
}

impl FromSql for Digest {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let bytes: [u8; 32] = value.as_blob()?.try_into().map_err(|_| FromSqlError::InvalidType)?;
        Ok(Digest::from_bytes(bytes))
    }
}

macro_rules! as_text {
    ($t:ty, $s:ident => $text:expr) => {
        impl ToSql for $t {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                let $s = self;
                Ok(ToSqlOutput::from($text))
            }
        }
        impl FromSql for $t {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_str()?.parse().map_err(FromSqlError::other)
            }
        }
    };
}
as_text!(Kind, s => s.as_str());
as_text!(Address, s => s.to_string());
as_text!(Owner, s => s.as_str());

impl ToSql for ActorKind {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(match self {
            ActorKind::Api => "api",
            ActorKind::Session => "session",
        }))
    }
}

impl FromSql for ActorKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value.as_str()? {
            "api" => Ok(ActorKind::Api),
            "session" => Ok(ActorKind::Session),
            _ => Err(FromSqlError::InvalidType),
        }
    }
}

/// A value kept as JSON text.
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(&self.0).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
        Ok(ToSqlOutput::from(text))
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Json).map_err(FromSqlError::other)
    }
}
