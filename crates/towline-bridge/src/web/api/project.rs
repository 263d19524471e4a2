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
use utoipa::{IntoParams, ToSchema};

use crate::web::Site;

use super::{ApiResult, described::OfQuery};

type Sited = Extension<Arc<Site>>;

/// Where to look.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
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

/// A file, or why it cannot be shown.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "the answer is the protocol's; this describes it")]
pub(super) struct FileShown {
    file_path: String,
    /// `text`, `image` or `binary`.
    kind: Option<String>,
    content: String,
    language: Option<String>,
    error: Option<String>,
    total_lines: Option<u64>,
    truncated: Option<bool>,
    /// A picture.
    base64: Option<String>,
    mime_type: Option<String>,
    size_bytes: Option<u64>,
}

/// The files of a project, or why they cannot be listed.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "the answer is the protocol's; this describes it")]
pub(super) struct FilesShown {
    files: Vec<String>,
    total_files: Option<u64>,
    truncated: Option<bool>,
    error: Option<String>,
}

/// A directory.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the answer is the protocol's; this describes it")]
pub(super) struct DirectoryShown {
    path: String,
    directories: Vec<EntryShown>,
    files: Option<Vec<EntryShown>>,
}

/// What is in a directory.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the answer is the protocol's; this describes it")]
pub(super) struct EntryShown {
    name: String,
    path: String,
}

/// What has changed, or why that cannot be told.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "the answer is the protocol's; this describes it")]
pub(super) struct DiffShown {
    staged: Option<bool>,
    /// As `git diff` writes it.
    diff: String,
    error: Option<String>,
    error_code: Option<String>,
    /// Pictures that have changed.
    #[schema(value_type = Option<Vec<Object>>)]
    image_changes: Option<Vec<serde_json::Value>>,
}

/// What is in a file.
#[utoipa::path(get, path = "/api/file", params(Where), responses((status = 200, body = FileShown), OfQuery))]
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
#[utoipa::path(get, path = "/api/files", params(Where), responses((status = 200, body = FilesShown), OfQuery))]
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
#[utoipa::path(get, path = "/api/directory", params(Where), responses((status = 200, body = DirectoryShown), OfQuery))]
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
#[utoipa::path(get, path = "/api/diff", params(Where), responses((status = 200, body = DiffShown), OfQuery))]
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
