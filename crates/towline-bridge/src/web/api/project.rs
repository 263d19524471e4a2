//! Files and changes of a project.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Query, rejection::QueryRejection},
    http::header,
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use towline_protocol::{
    Wire,
    dialect::pocket::{GetDiff, ListDirectory, ListFiles, ReadFile},
};
use utoipa::IntoParams;

use crate::web::Site;

use super::ApiResult;

type Sited = Extension<Arc<Site>>;

/// Where to look.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct Where {
    /// The project.
    directory: String,
    /// The file in it.
    path: Option<String>,
    /// Only what is staged, or only what is not.
    staged: Option<bool>,
    /// Give hidden entries too.
    hidden: Option<bool>,
}

/// What is in a file.
#[utoipa::path(get, path = "/api/file", params(Where), responses((status = 200)))]
pub(super) async fn file(
    Extension(site): Sited,
    query: Result<Query<Where>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(place) = query?;
    let request = ReadFile {
        project_path: place.directory.into(),
        file_path: place.path.unwrap_or_default().into(),
        ..ReadFile::default()
    };
    Ok(json(&site.desk.projects().read_file(&request).await))
}

/// Which files a project has.
#[utoipa::path(get, path = "/api/files", params(Where), responses((status = 200)))]
pub(super) async fn files(
    Extension(site): Sited,
    query: Result<Query<Where>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(place) = query?;
    let request = ListFiles {
        project_path: place.directory.into(),
        ..ListFiles::default()
    };
    Ok(json(&site.desk.projects().list_files(&request).await))
}

/// What is in a directory.
#[utoipa::path(get, path = "/api/directory", params(Where), responses((status = 200)))]
pub(super) async fn directory(
    Extension(site): Sited,
    query: Result<Query<Where>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(place) = query?;
    let request = ListDirectory {
        path: place.directory.into(),
        include_hidden: place.hidden,
        include_files: Some(true),
        ..ListDirectory::default()
    };
    match site.desk.projects().list_directory(&request).await {
        Ok(listing) => Ok(json(&listing)),
        Err(error) => Ok(json(&error.to_client())),
    }
}

/// What has changed in a project.
#[utoipa::path(get, path = "/api/diff", params(Where), responses((status = 200)))]
pub(super) async fn diff(
    Extension(site): Sited,
    query: Result<Query<Where>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(place) = query?;
    let request = GetDiff {
        project_path: place.directory.into(),
        staged: place.staged,
        ..GetDiff::default()
    };
    Ok(json(&site.desk.projects().diff(&request).await))
}

fn json(answer: &impl Wire) -> Response {
    let body = answer.to_json().as_str().to_owned();
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
