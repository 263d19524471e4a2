//! Files and changes of a project.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Query, rejection::QueryRejection},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use serde::Deserialize;
use towline_protocol::{
    Wire,
    dialect::pocket::{DiffResult, FileContent, GetDiff, ListDirectory, ListFiles, ReadFile},
};
use utoipa::{IntoParams, ToSchema};

use crate::web::Site;

use super::{
    ApiResult, Problem,
    described::{OfProject, OfQuery},
};

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

/// A file.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "the answer is the protocol's; this describes it")]
pub(super) struct FileShown {
    file_path: String,
    /// `text`, `image` or `binary`.
    kind: Option<String>,
    content: String,
    language: Option<String>,
    /// Why there is no content: it is no text.
    error: Option<String>,
    total_lines: Option<u64>,
    truncated: Option<bool>,
    /// A picture.
    base64: Option<String>,
    mime_type: Option<String>,
    size_bytes: Option<u64>,
}

/// The files of a project.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "the answer is the protocol's; this describes it")]
pub(super) struct FilesShown {
    files: Vec<String>,
    total_files: Option<u64>,
    truncated: Option<bool>,
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

/// What has changed.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "the answer is the protocol's; this describes it")]
pub(super) struct DiffShown {
    staged: Option<bool>,
    /// As `git diff` writes it.
    diff: String,
    /// Pictures that have changed.
    #[schema(value_type = Option<Vec<Object>>)]
    image_changes: Option<Vec<serde_json::Value>>,
}

/// What is in a file.
#[utoipa::path(get, path = "/api/file", params(Where), responses((status = 200, body = FileShown), OfQuery, OfProject))]
pub(super) async fn file(
    Extension(site): Sited,
    query: Result<Query<Where>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(place) = query?;
    let Some(path) = place.path.filter(|path| !path.is_empty()) else {
        let words = "`path` is missing: name a file of the directory";
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "invalid_query",
            words,
        ));
    };
    let request = ReadFile {
        project_path: place.directory.into(),
        file_path: path.into(),
        ..ReadFile::default()
    };
    let content = site.desk.projects().file(&request).await?;
    Ok(json(&FileContent {
        file_path: request.file_path,
        ..content
    }))
}

/// Which files a project has.
#[utoipa::path(get, path = "/api/files", params(Where), responses((status = 200, body = FilesShown), OfQuery, OfProject))]
pub(super) async fn files(
    Extension(site): Sited,
    query: Result<Query<Where>, QueryRejection>,
) -> ApiResult<Response> {
    let Query(place) = query?;
    let request = ListFiles {
        project_path: place.directory.into(),
        ..ListFiles::default()
    };
    Ok(json(&site.desk.projects().files(&request).await?))
}

/// What is in a directory.
#[utoipa::path(get, path = "/api/directory", params(Where), responses((status = 200, body = DirectoryShown), OfQuery, OfProject))]
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
    let listing = site.desk.projects().list_directory(&request).await?;
    Ok(json(&listing))
}

/// What has changed in a project.
#[utoipa::path(get, path = "/api/diff", params(Where), responses((status = 200, body = DiffShown), OfQuery, OfProject))]
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
    let result = site.desk.projects().difference(&request).await?;
    Ok(json(&DiffResult {
        staged: request.staged,
        ..result
    }))
}

fn json(answer: &impl Wire) -> Response {
    let body = answer.to_json().as_str().to_owned();
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
