//! [`requests`]: makes a method of each row of a table, with its documentation and an example that runs.

/// Declares requests. A row is the doc comment, `method(arguments) -> Answer = how(request);` with one of the ways that
/// [`Control`](crate::Control) has (`typed`, `done`, `request`), and an example: one expression, with what it gives
/// behind `=>` where that is worth showing.
macro_rules! requests {
    ($(
        $(#[doc = $documentation:literal])*
        $method:ident($($argument:ident: $type:ty),*) -> $answer:ty = $how:ident($request:expr);
        $example:expr $(=> $gives:expr)?;
    )*) => {
        impl Control { $(
            $(#[doc = $documentation])*
            #[doc = concat!(
                "\n```\n",
                "# towline_testkit::in_session!(|session| {\n",
                "# use towline_host::protocol::control::request::*;\n",
                "# let control = session.control();\n",
                requests!(@line $example $(=> $gives)?), "\n",
                "# });\n",
                "```\n",
            )]
            /// # Errors
            /// When the agent refuses, does not answer in time, or is gone.
            pub async fn $method(&self $(, $argument: $type)*) -> Result<$answer, Error> {
                self.$how($request).await
            }
        )* }
    };
    (@line $example:expr) => { concat!(stringify!($example), ";") };
    (@line $example:expr => $gives:expr) => {
        concat!("assert_eq!(", stringify!($example), ", ", stringify!($gives), ");")
    };
}

pub(super) use requests;
