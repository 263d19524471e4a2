//! Whether a folder is trusted: what its files would have count, and the answer of a person.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{
        Query,
        rejection::{JsonRejection, QueryRejection},
    },
};
use serde::{Deserialize, Serialize};
use towline_host::store::OfferKind;
use utoipa::{IntoParams, ToSchema};

use crate::{
    access::Who,
    trust::{FolderTrust, TrustAnswer},
    web::Site,
};

use super::{
    ApiResult,
    described::{OfBody, OfProject, OfQuery},
    problem::ProblemBody,
};

type Sited = Extension<Arc<Site>>;

/// Which folder.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    /// The folder that a session works in, or is to.
    directory: String,
}

/// How it stands with a folder.
#[derive(Serialize, ToSchema)]
pub(super) struct TrustShown {
    /// The folder that is trusted or not: that of the repository, else the very one.
    folder: String,
    /// Whether the person trusts it.
    trusted: bool,
    /// The things that its files would have count, were it trusted: untrusted text of any length and with any characters.
    asks: Vec<AskShown>,
    /// How many more rules there are than are listed; of everything else all is.
    more: usize,
    /// A digest of the files. An answer names it, so that nothing is trusted that was not shown.
    digest: String,
}

/// One thing that would count.
#[derive(Serialize, ToSchema)]
pub(super) struct AskShown {
    kind: AskKind,
    /// The text, as it stands in the file.
    value: String,
    /// The file.
    path: String,
}

/// A kind of thing that waits for trust.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum AskKind {
    /// A rule that allows.
    Allow,
    /// A working directory besides the project.
    Directory,
    /// A mode to begin in.
    Mode,
    /// A command that runs at an event.
    Hook,
    /// A server that is started.
    Server,
    /// A variable that is set.
    Variable,
    /// A command that gives the key.
    KeyHelper,
    /// Another setting that starts a program or redirects.
    Program,
}

/// The answer of a person.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TrustGiven {
    /// The folder that a session works in, or is to.
    directory: String,
    /// Whether it may be trusted.
    trusted: bool,
    /// The digest of the files that were shown; needed where it may be trusted.
    digest: Option<String>,
}

/// Whether a folder is trusted, and what that would change.
#[utoipa::path(get, path = "/api/trust", params(Which), responses((status = 200, body = TrustShown), OfQuery, OfProject))]
pub(super) async fn shown(
    Extension(site): Sited,
    query: Result<Query<Which>, QueryRejection>,
) -> ApiResult<Json<TrustShown>> {
    let Query(Which { directory }) = query?;
    Ok(Json(site.desk.trust_of(&directory).await?.into()))
}

/// Say whether a folder may be trusted; 409 if its files are not those that were shown. Agents that are started from then
/// on go by it.
#[utoipa::path(post, path = "/api/trust", request_body = TrustGiven, responses((status = 200, body = TrustShown), OfBody, OfProject, (status = 409, body = ProblemBody, description = "the files are not those that were shown")))]
pub(super) async fn answer(
    Extension(site): Sited,
    Extension(who): Extension<Who>,
    given: Result<Json<TrustGiven>, JsonRejection>,
) -> ApiResult<Json<TrustShown>> {
    let Json(given) = given?;
    let answer = match given.trusted {
        true => TrustAnswer::Trust {
            digest: given.digest.unwrap_or_default(),
        },
        false => TrustAnswer::DoNotTrust,
    };
    let now = site.desk.answer_trust(&who, &given.directory, answer);
    Ok(Json(now.await?.into()))
}

impl From<FolderTrust> for TrustShown {
    fn from(trust: FolderTrust) -> Self {
        let asks = trust.offer.items.into_iter().map(|item| AskShown {
            kind: item.kind.into(),
            value: item.value,
            path: item.path.to_string_lossy().into_owned(),
        });
        Self {
            folder: trust.folder.to_string_lossy().into_owned(),
            trusted: trust.is_trusted,
            asks: asks.collect(),
            more: trust.offer.more,
            digest: trust.digest,
        }
    }
}

impl From<OfferKind> for AskKind {
    fn from(kind: OfferKind) -> Self {
        match kind {
            OfferKind::Allow => Self::Allow,
            OfferKind::Directory => Self::Directory,
            OfferKind::Mode => Self::Mode,
            OfferKind::Hook => Self::Hook,
            OfferKind::Server => Self::Server,
            OfferKind::Variable => Self::Variable,
            OfferKind::KeyHelper => Self::KeyHelper,
            OfferKind::Program => Self::Program,
        }
    }
}
