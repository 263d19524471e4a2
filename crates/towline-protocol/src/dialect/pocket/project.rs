//! Files, diffs, worktrees and going back: what an app asks and what it gets.

use super::{BridgeId, ErrorCode, RewindMode};
use crate::{
    ids::Uuid,
    json::{Number, Text},
    wire::{Map, wire_strings, wire_structs},
};

wire_strings! {
    /// Which version of a picture.
    pub enum DiffSide {
        /// The one before.
        Old = "old",
        /// The one now.
        New = "new",
        /// Both.
        Both = "both",
    }

    /// What a file holds.
    pub enum FileKind {
        /// Words.
        Text = "text",
        /// A picture.
        Image = "image",
        /// Sound.
        Audio = "audio",
        /// A film.
        Video = "video",
        /// A body in space.
        Model = "model",
    }
}

wire_structs! {
    /// `read_file`
    #[derive(Default)]
    pub struct ReadFile {
        /// The project.
        project_path: Text = "projectPath",
        /// Which file.
        file_path: Text = "filePath",
        /// How much of it.
        max_lines: Option<u64> = "maxLines",
        /// Comes back in the answer.
        request_id: Option<Text> = "requestId",
    }

    /// `file_content`
    #[derive(Default)]
    pub struct FileContent {
        /// The project.
        project_path: Option<Text> = "projectPath",
        /// As in the request.
        request_id: Option<Text> = "requestId",
        /// Which file.
        file_path: Text = "filePath",
        /// What it holds.
        kind: Option<FileKind>,
        /// Its text; empty for what is no text.
        content: Text,
        /// The language it is written in.
        language: Option<Text>,
        /// Why it could not be read.
        error: Option<Text>,
        /// How many lines it has.
        total_lines: Option<u64> = "totalLines",
        /// Whether there is more of it.
        truncated: Option<bool>,
        /// The data of what is no text.
        base64: Option<Text>,
        /// Such as `image/png`.
        mime_type: Option<Text> = "mimeType",
        /// How large it is.
        size_bytes: Option<u64> = "sizeBytes",
    }

    /// `list_files`
    #[derive(Default)]
    pub struct ListFiles {
        /// The project.
        project_path: Text = "projectPath",
        /// Comes back in the answer.
        request_id: Option<Text> = "requestId",
    }

    /// `file_list`
    #[derive(Default)]
    pub struct FileList {
        /// The project.
        project_path: Option<Text> = "projectPath",
        /// As in the request.
        request_id: Option<Text> = "requestId",
        /// The paths.
        files: Vec<Text>,
        /// For each of them, whether git ignores it.
        ignored: Option<Vec<bool>>,
        /// When each was changed, in milliseconds since 1970.
        modified_at: Option<Map<Number>> = "modifiedAt",
        /// How many there are.
        total_files: Option<u64> = "totalFiles",
        /// Whether there are more.
        truncated: Option<bool>,
        /// Why they could not be listed.
        error: Option<Text>,
    }

    /// `list_directory`
    #[derive(Default)]
    pub struct ListDirectory {
        /// The directory.
        path: Text,
        /// Comes back in the answer.
        request_id: Option<Text> = "requestId",
        /// Give the hidden entries too.
        include_hidden: Option<bool> = "includeHidden",
        /// Give the files too.
        include_files: Option<bool> = "includeFiles",
    }

    /// `directory_listing`
    #[derive(Default)]
    pub struct DirectoryListing {
        /// The directory.
        path: Text,
        /// The directories in it.
        directories: Vec<PathEntry>,
        /// The files in it.
        files: Option<Vec<PathEntry>>,
        /// As in the request.
        request_id: Option<Text> = "requestId",
    }

    /// A file or directory.
    #[derive(Default)]
    pub struct PathEntry {
        /// Its name.
        name: Text,
        /// Where it is.
        path: Text,
    }

    /// `get_diff`
    #[derive(Default)]
    pub struct GetDiff {
        /// The project.
        project_path: Text = "projectPath",
        /// Only what is staged, or only what is not.
        staged: Option<bool>,
        /// Comes back in the answer.
        request_id: Option<Text> = "requestId",
    }

    /// `diff_result`
    #[derive(Default)]
    pub struct DiffResult {
        /// The project.
        project_path: Option<Text> = "projectPath",
        /// As in the request.
        request_id: Option<Text> = "requestId",
        /// As in the request.
        staged: Option<bool>,
        /// The changes, as git writes them.
        diff: Text,
        /// Why there are none.
        error: Option<Text>,
        /// The same, for programs.
        error_code: Option<ErrorCode> = "errorCode",
        /// Pictures that have changed.
        image_changes: Option<Vec<ImageChange>> = "imageChanges",
    }

    /// A picture that has changed.
    #[derive(Default)]
    pub struct ImageChange {
        /// Which file.
        file_path: Text = "filePath",
        /// Whether there was none before.
        is_new: Option<bool> = "isNew",
        /// Whether there is none any more.
        is_deleted: Option<bool> = "isDeleted",
        /// Whether it is SVG.
        is_svg: Option<bool> = "isSvg",
        /// How large it was.
        old_size: Option<u64> = "oldSize",
        /// How large it is.
        new_size: Option<u64> = "newSize",
        /// Such as `image/png`.
        mime_type: Option<Text> = "mimeType",
        /// Whether `get_diff_image` gives it.
        loadable: Option<bool>,
        /// Whether to show it unasked.
        auto_display: Option<bool> = "autoDisplay",
    }

    /// `get_diff_image`
    pub struct GetDiffImage {
        /// The project.
        project_path: Text = "projectPath",
        /// Which file.
        file_path: Text = "filePath",
        /// Which version of it.
        version: DiffSide,
        /// Comes back in the answer.
        request_id: Option<Text> = "requestId",
    }

    /// `diff_image_result`
    pub struct DiffImage {
        /// The project.
        project_path: Option<Text> = "projectPath",
        /// As in the request.
        request_id: Option<Text> = "requestId",
        /// Which file.
        file_path: Text = "filePath",
        /// Which version of it.
        version: DiffSide,
        /// The data of one version.
        base64: Option<Text>,
        /// Of both: the data before.
        old_base64: Option<Text> = "oldBase64",
        /// Of both: the data now.
        new_base64: Option<Text> = "newBase64",
        /// Such as `image/png`.
        mime_type: Option<Text> = "mimeType",
        /// Why there is none.
        error: Option<Text>,
    }

    /// `list_worktrees`
    #[derive(Default)]
    pub struct ListWorktrees {
        /// The project.
        project_path: Text = "projectPath",
        /// Comes back in the answer.
        request_id: Option<Text> = "requestId",
    }

    /// `worktree_list`
    #[derive(Default)]
    pub struct WorktreeList {
        /// The project.
        project_path: Option<Text> = "projectPath",
        /// As in the request.
        request_id: Option<Text> = "requestId",
        /// The worktrees.
        worktrees: Vec<Worktree>,
        /// The branch of the project itself.
        main_branch: Option<Text> = "mainBranch",
        /// Why they could not be listed.
        error: Option<Text>,
    }

    /// A worktree.
    #[derive(Default)]
    pub struct Worktree {
        /// Where it is.
        worktree_path: Text = "worktreePath",
        /// Its branch.
        branch: Text,
        /// The project.
        project_path: Option<Text> = "projectPath",
        /// Its commit.
        head: Option<Text>,
    }

    /// `remove_worktree`
    #[derive(Default)]
    pub struct RemoveWorktree {
        /// The project.
        project_path: Text = "projectPath",
        /// Where it is.
        worktree_path: Text = "worktreePath",
        /// Comes back in the answer.
        request_id: Option<Text> = "requestId",
    }

    /// `worktree_removed`
    #[derive(Default)]
    pub struct WorktreeRemoved {
        /// The project.
        project_path: Option<Text> = "projectPath",
        /// As in the request.
        request_id: Option<Text> = "requestId",
        /// Where it was.
        worktree_path: Text = "worktreePath",
        /// Why it is still there.
        error: Option<Text>,
    }

    /// `rewind`
    pub struct Rewind {
        /// The session.
        session_id: BridgeId = "sessionId",
        /// The message to go back to.
        target_uuid: Uuid = "targetUuid",
        /// What to put back.
        mode: RewindMode,
    }

    /// `rewind_dry_run`
    #[derive(Default)]
    pub struct RewindDryRun {
        /// The session.
        session_id: BridgeId = "sessionId",
        /// The message to go back to.
        target_uuid: Uuid = "targetUuid",
    }

    /// `rewind_preview`
    #[derive(Default)]
    pub struct RewindPreview {
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Whether it can be done.
        can_rewind: bool = "canRewind",
        /// The files that would change.
        files_changed: Option<Vec<Text>> = "filesChanged",
        /// Lines that would come.
        insertions: Option<u64>,
        /// Lines that would go.
        deletions: Option<u64>,
        /// Why it cannot be done.
        error: Option<Text>,
    }

    /// `rewind_result`
    pub struct RewindResult {
        /// The session.
        session_id: Option<BridgeId> = "sessionId",
        /// Whether it worked.
        success: bool,
        /// What was put back.
        mode: RewindMode,
        /// Why it did not work.
        error: Option<Text>,
    }

    /// `fork`
    #[derive(Default)]
    pub struct Fork {
        /// The session.
        session_id: BridgeId = "sessionId",
        /// The message to go on from.
        target_uuid: Uuid = "targetUuid",
    }
}
