//! Members of a JSON object that are carried, not read.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The members of a JSON object, in the order they came and as they were written.
///
/// Nothing is lost on the way through: numbers of any size, the order of keys at every depth, members that
/// nobody here knows. Two values are equal when they were written alike.
#[derive(Clone, Default)]
pub struct Fields(Vec<(Box<str>, Box<RawValue>)>);

impl Fields {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The member called `name`, as it was written.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(key, _)| &**key == name).map(|(_, raw)| &**raw)
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, raw)| (&**key, &**raw))
    }

    /// Adds a member at the end, or replaces the one of that name where it stands.
    pub fn insert(&mut self, name: &str, raw: Box<RawValue>) {
        match self.0.iter_mut().find(|(key, _)| &**key == name) {
            Some((_, value)) => *value = raw,
            None => self.0.push((name.into(), raw)),
        }
    }

    pub(crate) fn take_optional<T: DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, serde_json::Error> {
        let Some(at) = self.0.iter().position(|(key, _)| &**key == name) else { return Ok(None) };
        let (_, raw) = self.0.remove(at);
        serde_json::from_str(raw.get())
    }

    pub(crate) fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, serde_json::Error> {
        match self.take_optional(name)? {
            Some(value) => Ok(value),
            None => Err(serde_json::Error::custom(format_args!("`{name}` is missing"))),
        }
    }

    pub(crate) fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.iter().try_for_each(|(key, raw)| map.serialize_entry(key, raw))
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len()
            && self.iter().zip(other.iter()).all(|((key, raw), (other_key, other_raw))| {
                key == other_key && raw.get() == other_raw.get()
            })
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(key, raw)| (key, raw.get()))).finish()
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some((name, raw)) = map.next_entry::<Box<str>, Box<RawValue>>()? {
                    fields.insert(&name, raw);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// Declares a struct that is a JSON object with known members, and `extra` for all others.
///
/// Known members are written first, in the order of the declaration, then the others as they came.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            required { $( $(#[$required_meta:meta])* $required:ident: $required_type:ty => $required_name:literal, )* }
            optional { $( $(#[$optional_meta:meta])* $optional:ident: $optional_type:ty => $optional_name:literal, )* }
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $( $(#[$required_meta])* pub $required: $required_type, )*
            $( $(#[$optional_meta])* pub $optional: Option<$optional_type>, )*
            /// The members that are not known here, as they came.
            pub extra: $crate::Fields,
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;

                let mut map = serializer.serialize_map(None)?;
                $( map.serialize_entry($required_name, &self.$required)?; )*
                $( if let Some(value) = &self.$optional { map.serialize_entry($optional_name, value)?; } )*
                self.extra.serialize_into(&mut map)?;
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut fields = $crate::Fields::deserialize(deserializer)?;
                Ok(Self {
                    $( $required: fields.take($required_name).map_err(serde::de::Error::custom)?, )*
                    $( $optional: fields.take_optional($optional_name).map_err(serde::de::Error::custom)?, )*
                    extra: fields,
                })
            }
        }
    };
}
pub(crate) use object;
