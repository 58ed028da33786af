//! Looks for numbers that JSON cannot write.

use std::fmt::{self, Display};

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::OutputError;
use crate::schema::push_key;

/// Checks that no number in `value` is infinite or not a number, and says where one is.
pub(super) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), OutputError> {
    value.serialize(Finite).map_err(|found| {
        let mut pointer = String::new();
        found.path.iter().rev().for_each(|key| push_key(&mut pointer, key));
        OutputError::new(pointer, found.message)
    })
}

/// Walks a value and writes nothing.
struct Finite;

/// Where something was found, innermost step first.
#[derive(Debug)]
struct Found {
    path: Vec<String>,
    message: String,
}

impl Found {
    fn under(mut self, key: impl Into<String>) -> Self {
        self.path.push(key.into());
        self
    }
}

impl Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Found {}

impl Error for Found {
    fn custom<T: Display>(message: T) -> Self {
        Self { path: Vec::new(), message: message.to_string() }
    }
}

fn finite(number: f64) -> Result<(), Found> {
    if number.is_finite() {
        return Ok(());
    }
    Err(Found::custom(format_args!("{number} is no number that JSON can write")))
}

/// Counts the items of a list.
#[derive(Default)]
struct Items(usize);

impl Items {
    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        value.serialize(Finite).map_err(|found| found.under(self.0.to_string()))?;
        self.0 += 1;
        Ok(())
    }
}

/// Keeps the key of a map's next value.
#[derive(Default)]
struct Entries(String);

/// The members of a struct, which may stand under the name of a variant.
struct Members(Option<&'static str>);

impl Members {
    fn next<T: Serialize + ?Sized>(&self, key: &str, value: &T) -> Result<(), Found> {
        value.serialize(Finite).map_err(|found| match self.0 {
            Some(variant) => found.under(key).under(variant),
            None => found.under(key),
        })
    }
}

macro_rules! passed {
    ($($method:ident($type:ty))*) => {
        $(fn $method(self, _value: $type) -> Result<(), Found> {
            Ok(())
        })*
    };
}

impl Serializer for Finite {
    type Ok = ();
    type Error = Found;
    type SerializeSeq = Items;
    type SerializeTuple = Items;
    type SerializeTupleStruct = Items;
    type SerializeTupleVariant = Variant;
    type SerializeMap = Entries;
    type SerializeStruct = Members;
    type SerializeStructVariant = Members;

    passed! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_i128(i128) serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_u128(u128) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8])
        serialize_unit_struct(&'static str)
    }

    fn serialize_f32(self, number: f32) -> Result<(), Found> {
        finite(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), Found> {
        finite(number)
    }

    fn serialize_none(self) -> Result<(), Found> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Found> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Found> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Found> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Found> {
        value.serialize(self).map_err(|found| found.under(variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items, Found> {
        Ok(Items::default())
    }

    fn serialize_tuple(self, _: usize) -> Result<Items, Found> {
        Ok(Items::default())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items, Found> {
        Ok(Items::default())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Variant, Found> {
        Ok(Variant { name: variant, items: Items::default() })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries, Found> {
        Ok(Entries::default())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, Found> {
        Ok(Members(None))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members, Found> {
        Ok(Members(Some(variant)))
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Result<(), Found> {
        Ok(())
    }

    fn is_human_readable(&self) -> bool {
        true
    }
}

macro_rules! items {
    ($($trait:ident::$method:ident)*) => {
        $(impl $trait for Items {
            type Ok = ();
            type Error = Found;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
                self.next(value)
            }

            fn end(self) -> Result<(), Found> {
                Ok(())
            }
        })*
    };
}

items! {
    SerializeSeq::serialize_element SerializeTuple::serialize_element SerializeTupleStruct::serialize_field
}

/// A list under the name of a variant.
struct Variant {
    name: &'static str,
    items: Items,
}

impl SerializeTupleVariant for Variant {
    type Ok = ();
    type Error = Found;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        self.items.next(value).map_err(|found| found.under(self.name))
    }

    fn end(self) -> Result<(), Found> {
        Ok(())
    }
}

macro_rules! members {
    ($($trait:ident)*) => {
        $(impl $trait for Members {
            type Ok = ();
            type Error = Found;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Found> {
                self.next(key, value)
            }

            fn end(self) -> Result<(), Found> {
                Ok(())
            }
        })*
    };
}

members! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Entries {
    type Ok = ();
    type Error = Found;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Found> {
        self.0 = name(key);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Found> {
        value.serialize(Finite).map_err(|found| found.under(std::mem::take(&mut self.0)))
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), Found> {
        value.serialize(Finite).map_err(|found| found.under(name(key)))
    }

    fn end(self) -> Result<(), Found> {
        Ok(())
    }
}

/// A key as text. What cannot be a key is for the writer to refuse; here it only has no name.
fn name<T: Serialize + ?Sized>(key: &T) -> String {
    match serde_json::to_value(key) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
