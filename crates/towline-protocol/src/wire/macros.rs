//! The macros that declare wire types. One declaration gives the type, its reader, its writer and its list of what
//! it has no name for, so that the four can never disagree.

/// Structs: `field: Type`, or `field: Type = "wireName" | "other_spelling"` where the names differ.
///
/// `Type` says what absence means: `T` must be there, `Option<T>` may be absent, `Nullable<T>` may be absent or `null`.
/// Fields stand in the order in which the real CLI writes them: the reader expects that order, and is faster for it.
macro_rules! wire_structs {
    ($(
        $(#[$meta:meta])*
        pub struct $Name:ident {
            $( $(#[$field_meta:meta])* $field:ident : $Type:ty $(= $wire:literal $(| $alias:literal)*)? ),* $(,)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $Name {
            $( $(#[$field_meta])* pub $field: $Type, )*
            /// Fields that have no name here, kept and written back.
            pub extra: $crate::wire::Extra,
        }

        const _: () = {
            /// The fields while they are being read.
            #[derive(Default)]
            struct Slots { $( $field: <$Type as $crate::wire::Field>::Slot, )* }

            #[allow(non_camel_case_types, clippy::allow_attributes, reason = "named after the fields")]
            #[derive(Clone, Copy)]
            enum Slot { $( $field, )* }
            const SLOTS: &[Slot] = &[ $( Slot::$field, )* ];
            const NAMES: &$crate::wire::Names = &$crate::wire::Names {
                standard: &[ $( $crate::json::Likely::new(
                    concat!("\"", $crate::wire::wire_name!($field $(, $wire)?), "\":"),
                ), )* ],
                other: &[ $($($( ($alias, Slot::$field as usize), )*)?)* ],
            };

            impl Slots {
                #[allow(unused_variables, clippy::allow_attributes, reason = "where there are no fields")]
                fn fill(
                    &mut self,
                    object: &mut $crate::wire::Object<'_>,
                    reader: &mut $crate::json::Reader<'_>,
                ) -> $crate::wire::Result<()> {
                    object.begin(reader)?;
                    while let Some(index) = object.next(reader)? {
                        match SLOTS[index] {
                            $( Slot::$field => object.take::<$Type>(&mut self.$field, reader)?, )*
                        }
                    }
                    $( if !<$Type as $crate::wire::Field>::may_end(&self.$field) {
                        return Err(object.missing(Slot::$field as usize));
                    } )*
                    Ok(())
                }
            }

            impl $crate::wire::Body for $Name {
                fn read_body(
                    reader: &mut $crate::json::Reader<'_>,
                    tags: &[&str],
                ) -> $crate::wire::Result<Self> {
                    let mut slots = Slots::default();
                    let mut object = $crate::wire::Object::new(NAMES, tags);
                    slots.fill(&mut object, reader)?;
                    Ok(Self {
                        $( $field: <$Type as $crate::wire::Field>::finish(slots.$field), )*
                        extra: object.into_extra(),
                    })
                }

                fn read_boxed(
                    reader: &mut $crate::json::Reader<'_>,
                    tags: &[&str],
                ) -> $crate::wire::Result<Box<Self>> {
                    let mut slots = Slots::default();
                    let mut object = $crate::wire::Object::new(NAMES, tags);
                    slots.fill(&mut object, reader)?;
                    Ok(Box::new(Self {
                        $( $field: <$Type as $crate::wire::Field>::finish(slots.$field), )*
                        extra: object.into_extra(),
                    }))
                }

                fn write_body(&self, writer: &mut $crate::json::Writer) {
                    $( $crate::wire::Field::write_field(
                        &self.$field,
                        $crate::wire::wire_name!($field $(, $wire)?),
                        &self.extra,
                        writer,
                    ); )*
                    self.extra.write(writer);
                }

                fn unnamed_body(&self, found: &mut $crate::wire::Unnamed) {
                    $( $crate::wire::Field::unnamed_field(
                        &self.$field,
                        $crate::wire::wire_name!($field $(, $wire)?),
                        found,
                    ); )*
                    self.extra.unnamed(found);
                }
            }
        };

        impl $crate::wire::Parts for $Name {
            fn read(reader: &mut $crate::json::Reader<'_>) -> $crate::wire::Result<Self> {
                $crate::wire::Body::read_body(reader, &[])
            }

            fn write(&self, writer: &mut $crate::json::Writer) {
                writer.begin_object();
                $crate::wire::Body::write_body(self, writer);
                writer.end_object();
            }

            fn unnamed(&self, found: &mut $crate::wire::Unnamed) {
                $crate::wire::Body::unnamed_body(self, found);
            }
        }
    )*};
}

/// Unions told apart by a string field: `"tag value" => Variant(Struct)`. An unknown tag becomes `Unknown`, whole.
macro_rules! wire_enum {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident by $tag:literal $(inside $outer:literal)? {
            $( $(#[$variant_meta:meta])* $value:literal => $Variant:ident($Body:ty), )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $Name {
            $( $(#[$variant_meta])* $Variant($Body), )*
            /// A kind that has no name here, kept whole.
            Unknown($crate::wire::Unknown),
        }

        impl $Name {
            /// What it says it is, as on the wire; `?` if it does not say.
            pub fn kind(&self) -> &str {
                match self {
                    $( Self::$Variant(_) => $value, )*
                    Self::Unknown(unknown) => unknown.kind(),
                }
            }

            const TAGS: &[&str] = &[$tag $(, $outer)?];
        }

        impl $crate::wire::Body for $Name {
            #[inline]
            fn read_body(
                reader: &mut $crate::json::Reader<'_>,
                _tags: &[&str],
            ) -> $crate::wire::Result<Self> {
                const TAG: $crate::json::Tag = $crate::json::Tag::new($tag, concat!("{\"", $tag, "\":\""));
                let tag = reader.tag(&TAG)?;
                match tag.as_deref() {
                    $( Some($value) => $crate::wire::Body::read_body(reader, Self::TAGS).map(Self::$Variant), )*
                    unknown => $crate::wire::Unknown::read(unknown, reader).map(Self::Unknown),
                }
            }

            fn write_body(&self, writer: &mut $crate::json::Writer) {
                match self {
                    $( Self::$Variant(body) => {
                        writer.str_field($tag, $value);
                        $crate::wire::Body::write_body(body, writer);
                    } )*
                    Self::Unknown(unknown) => unknown.write_body(Self::TAGS.get(1).copied(), writer),
                }
            }

            fn unnamed_body(&self, found: &mut $crate::wire::Unnamed) {
                match self {
                    $( Self::$Variant(body) => $crate::wire::Body::unnamed_body(body, found), )*
                    Self::Unknown(unknown) => {
                        found.field($tag, |found| found.value(unknown.kind()));
                    }
                }
            }
        }

        impl $crate::wire::Parts for $Name {
            #[inline]
            fn read(reader: &mut $crate::json::Reader<'_>) -> $crate::wire::Result<Self> {
                $crate::wire::Body::read_body(reader, &[])
            }

            fn write(&self, writer: &mut $crate::json::Writer) {
                if let Self::Unknown(unknown) = self {
                    return $crate::wire::Parts::write(&unknown.json, writer);
                }
                writer.begin_object();
                $crate::wire::Body::write_body(self, writer);
                writer.end_object();
            }

            fn unnamed(&self, found: &mut $crate::wire::Unnamed) {
                $crate::wire::Body::unnamed_body(self, found);
            }
        }
    };
}

/// Enums that are strings on the wire; a value without a variant becomes `Unknown`.
macro_rules! wire_strings {
    ($(
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$variant_meta:meta])* $Variant:ident = $value:literal, )* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $Name {
            $( $(#[$variant_meta])* $Variant, )*
            /// A value that has no name here.
            Unknown($crate::json::Text),
        }

        impl $Name {
            /// The string of the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$Variant => $value, )*
                    Self::Unknown(text) => text,
                }
            }
        }

        $crate::wire::serde_as_str!($Name);

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                match text {
                    $( $value => Self::$Variant, )*
                    unknown => Self::Unknown(unknown.into()),
                }
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::wire::Parts for $Name {
            fn read(reader: &mut $crate::json::Reader<'_>) -> $crate::wire::Result<Self> {
                Ok(Self::from(&*reader.str()?))
            }

            fn write(&self, writer: &mut $crate::json::Writer) {
                writer.str(self.as_str());
            }

            fn unnamed(&self, found: &mut $crate::wire::Unnamed) {
                if let Self::Unknown(text) = self {
                    found.value(text);
                }
            }
        }
    )*};
}

/// Lets what is a string on the wire be a part of types that serde reads and writes.
macro_rules! serde_as_str {
    ($Name:ident) => {
        impl ::serde::Serialize for $Name {
            fn serialize<S: ::serde::Serializer>(
                &self,
                serializer: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $Name {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                <String as ::serde::Deserialize>::deserialize(deserializer)
                    .map(|text| Self::from(text.as_str()))
            }
        }
    };
}

/// Newtypes over [`ShortText`](crate::json::ShortText) for the ids of the wire, so that one cannot be taken for another.
macro_rules! wire_ids {
    ($( $(#[$meta:meta])* $Name:ident; )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Name($crate::json::ShortText);

        impl $Name {
            /// Wraps an id.
            pub fn new(id: impl AsRef<str>) -> Self {
                Self(id.as_ref().into())
            }

            /// The id as a string.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// A copy with memory of its own; see [`Text::detached`]($crate::Text::detached).
            #[must_use]
            pub fn detached(&self) -> Self {
                Self(self.0.detached())
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        $crate::wire::serde_as_str!($Name);

        impl From<&str> for $Name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<String> for $Name {
            fn from(id: String) -> Self {
                Self(id.as_str().into())
            }
        }

        impl AsRef<str> for $Name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $Name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $Name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $Name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl $crate::wire::Parts for $Name {
            #[inline]
            fn read(reader: &mut $crate::json::Reader<'_>) -> $crate::wire::Result<Self> {
                reader.short_text().map(Self)
            }

            fn write(&self, writer: &mut $crate::json::Writer) {
                writer.str(&self.0);
            }
        }
    )*};
}

/// The name of a field on the wire: the given one, or its own.
macro_rules! wire_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident, $wire:literal) => {
        $wire
    };
}

pub(crate) use {serde_as_str, wire_enum, wire_ids, wire_name, wire_strings, wire_structs};
