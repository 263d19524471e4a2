//! The inputs of the tools, typed. On the wire they stay raw, because a tool's schema is the tool's business; this
//! is a view for whoever wants to show or check one.

use super::ToolName;
use crate::{
    ids::{AgentId, TaskId},
    json::{DecodeError, Json, Number, Text},
    wire::{Map, Nullable, OneOrMany, Parts, Wire, wire_structs},
};

/// Declares [`ToolInput`]: one variant a tool, read by the tool's name.
macro_rules! tool_inputs {
    ($( $(#[$meta:meta])* $($name:literal)|+ => $Variant:ident($Input:ty), )*) => {
        /// The input of a tool call, by the tool's name.
        ///
        /// ```
        /// use towline_protocol::{Json, ToolInput, ToolName};
        ///
        /// let input = Json::new(r#"{"command":"ls","timeout":5000}"#)?;
        /// let ToolInput::Bash(bash) = ToolInput::read(&ToolName::from("Bash"), &input)? else { panic!() };
        /// assert_eq!(bash.command, "ls");
        /// # Ok::<(), towline_protocol::DecodeError>(())
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum ToolInput {
            $( $(#[$meta])* $Variant(Box<$Input>), )*
            /// A tool of an MCP server.
            Mcp(Json),
            /// A tool that has no name here.
            Unknown(Json),
        }

        impl ToolInput {
            /// Reads an input as the named tool's.
            ///
            /// # Errors
            /// When a known tool's input lacks a field or has one of another type.
            pub fn read(tool: &ToolName, input: &Json) -> Result<Self, DecodeError> {
                match tool.as_str() {
                    $( $($name)|+ => Parts::read_whole(input.text()).map(Self::$Variant), )*
                    _ if tool.mcp().is_some() => Ok(Self::Mcp(input.clone())),
                    _ => Ok(Self::Unknown(input.clone())),
                }
            }

            /// The input as JSON again, as it was read.
            pub fn to_json(&self) -> Json {
                match self {
                    $( Self::$Variant(input) => Wire::to_json(&**input), )*
                    Self::Mcp(json) | Self::Unknown(json) => json.clone(),
                }
            }

            /// The paths that no named field holds.
            pub fn unnamed_paths(&self) -> Vec<String> {
                match self {
                    $( Self::$Variant(input) => Wire::unnamed_paths(&**input), )*
                    Self::Mcp(_) | Self::Unknown(_) => Vec::new(),
                }
            }
        }
    };
}

tool_inputs! {
    /// Reads a file.
    "Read" => Read(ReadInput),
    /// Writes a file.
    "Write" => Write(WriteInput),
    /// Replaces text in a file.
    "Edit" => Edit(EditInput),
    /// Several replacements in one file.
    "MultiEdit" => MultiEdit(MultiEditInput),
    /// Takes edits back.
    "UndoEdit" => UndoEdit(UndoEditInput),
    /// Changes a notebook.
    "NotebookEdit" => NotebookEdit(NotebookEditInput),
    /// Reads a notebook.
    "NotebookRead" => NotebookRead(NotebookReadInput),
    /// Finds files by name.
    "Glob" => Glob(GlobInput),
    /// Finds text in files.
    "Grep" => Grep(GrepInput),
    /// Lists a directory.
    "LS" => Ls(LsInput),
    /// Searches the code base.
    "CodebaseSearchAgent" => CodebaseSearchAgent(CodebaseSearchAgentInput),
    /// Runs a command.
    "Bash" => Bash(BashInput),
    /// Starts a subagent.
    "Task" | "Agent" => Agent(AgentInput),
    /// Fetches a page.
    "WebFetch" => WebFetch(WebFetchInput),
    /// Searches the web.
    "WebSearch" => WebSearch(WebSearchInput),
    /// Writes the to-do list.
    "TodoWrite" => TodoWrite(TodoWriteInput),
    /// Reads the to-do list.
    "TodoRead" => TodoRead(NoInput),
    /// Starts planning.
    "EnterPlanMode" => EnterPlanMode(NoInput),
    /// Shows the plan.
    "ExitPlanMode" => ExitPlanMode(ExitPlanModeInput),
    /// Asks the person.
    "AskUserQuestion" => AskUserQuestion(AskUserQuestionInput),
    /// Asks a wiser model.
    "Oracle" => Oracle(OracleInput),
    /// Draws a diagram.
    "Mermaid" => Mermaid(MermaidInput),
    /// Lists agents.
    "ListAgents" => ListAgents(ListAgentsInput),
    /// Reports what a review found.
    "ReportFindings" => ReportFindings(ReportFindingsInput),
    /// Wakes up later.
    "ScheduleWakeup" => ScheduleWakeup(ScheduleWakeupInput),
    /// Uses a skill.
    "Skill" => Skill(SkillInput),
    /// Finds deferred tools.
    "ToolSearch" => ToolSearch(ToolSearchInput),
    /// Runs a workflow.
    "Workflow" => Workflow(WorkflowInput),
    /// Stands for the deferred tools.
    "DeferredToolPlaceholder" => DeferredToolPlaceholder(NoInput),
    /// Plans a repeated prompt.
    "CronCreate" => CronCreate(CronCreateInput),
    /// Forgets a repeated prompt.
    "CronDelete" => CronDelete(CronDeleteInput),
    /// Lists repeated prompts.
    "CronList" => CronList(NoInput),
    /// Works in a worktree.
    "EnterWorktree" => EnterWorktree(EnterWorktreeInput),
    /// Leaves the worktree.
    "ExitWorktree" => ExitWorktree(ExitWorktreeInput),
    /// Watches something.
    "Monitor" => Monitor(MonitorInput),
    /// Writes to another agent.
    "SendMessage" => SendMessage(SendMessageInput),
    /// Stops a background task.
    "TaskStop" | "KillShell" => TaskStop(TaskStopInput),
    /// Makes a task.
    "TaskCreate" => TaskCreate(TaskCreateInput),
    /// Reads a task.
    "TaskGet" => TaskGet(TaskGetInput),
    /// Lists the tasks.
    "TaskList" => TaskList(NoInput),
    /// Changes a task.
    "TaskUpdate" => TaskUpdate(TaskUpdateInput),
    /// Gives the result in the form that the host asked for.
    "StructuredOutput" => StructuredOutput(Json),
}

wire_structs! {
    /// `Read`
    pub struct ReadInput {
        /// Which file.
        file_path: Text,
        /// The first line.
        offset: Option<u64>,
        /// How many lines.
        limit: Option<u64>,
        /// Which pages of a PDF.
        pages: Option<Text>,
        /// Also when it is very long.
        allow_large: Option<bool>,
    }

    /// `Write`
    pub struct WriteInput {
        /// Which file.
        file_path: Text,
        /// What it shall hold.
        content: Text,
    }

    /// `Edit`
    pub struct EditInput {
        /// Which file.
        file_path: Text,
        /// What is there.
        old_string: Option<Text>,
        /// What shall be there.
        new_string: Option<Text>,
        /// At every place.
        replace_all: Option<bool>,
    }

    /// `MultiEdit`
    pub struct MultiEditInput {
        /// Which file.
        file_path: Text,
        /// The replacements, in order.
        edits: Vec<EditStep>,
    }

    /// One replacement of a `MultiEdit`.
    #[derive(Default)]
    pub struct EditStep {
        /// What is there.
        old_string: Option<Text>,
        /// What shall be there.
        new_string: Option<Text>,
        /// At every place.
        replace_all: Option<bool>,
    }

    /// `UndoEdit`
    #[derive(Default)]
    pub struct UndoEditInput {
        /// Which file.
        path: Option<Text>,
        /// How many edits.
        steps: Option<u64>,
    }

    /// `NotebookEdit`
    pub struct NotebookEditInput {
        /// Which notebook.
        notebook_path: Text,
        /// Which cell.
        cell_id: Option<Text>,
        /// What it shall hold.
        new_source: Text,
        /// `code` or `markdown`.
        cell_type: Option<Text>,
        /// `replace`, `insert` or `delete`.
        edit_mode: Option<Text>,
    }

    /// `NotebookRead`
    pub struct NotebookReadInput {
        /// Which notebook.
        notebook_path: Text,
        /// Which cell.
        cell_id: Option<Text>,
    }

    /// `Glob`
    pub struct GlobInput {
        /// The pattern.
        pattern: Text,
        /// Where to look.
        path: Option<Text>,
        /// How many to give.
        limit: Option<u64>,
    }

    /// `Grep`
    pub struct GrepInput {
        /// The regular expression.
        pattern: Text,
        /// Where to look.
        path: Option<Text>,
        /// In which files.
        glob: Option<Text>,
        /// `content`, `files_with_matches` or `count`.
        output_mode: Option<Text>,
        /// Lines before.
        before: Option<u64> = "-B",
        /// Lines after.
        after: Option<u64> = "-A",
        /// Lines around.
        around: Option<u64> = "-C",
        /// Lines around.
        context: Option<u64>,
        /// With line numbers.
        line_numbers: Option<bool> = "-n",
        /// Upper and lower case alike.
        ignore_case: Option<bool> = "-i",
        /// Only what matches.
        only_matching: Option<bool> = "-o",
        /// Of which file type.
        kind: Option<Text> = "type",
        /// How many to give.
        head_limit: Option<u64>,
        /// How many to leave out first.
        offset: Option<u64>,
        /// Across lines.
        multiline: Option<bool>,
    }

    /// `LS`
    pub struct LsInput {
        /// Which directory.
        path: Text,
        /// What to leave out.
        ignore: Option<Vec<Text>>,
    }

    /// `CodebaseSearchAgent`
    #[derive(Default)]
    pub struct CodebaseSearchAgentInput {
        /// What to look for.
        query: Option<Text>,
        /// Where to look.
        path: Option<Text>,
        /// In which files.
        include: Option<Vec<Text>>,
        /// In which files not.
        exclude: Option<Vec<Text>>,
        /// How many to give.
        limit: Option<u64>,
    }

    /// `Bash`
    pub struct BashInput {
        /// The command line.
        command: Text,
        /// What it does, in a few words.
        description: Option<Text>,
        /// Milliseconds it may take.
        timeout: Option<Number>,
        /// Do not wait for it.
        run_in_background: Option<bool>,
        /// Outside of the sandbox.
        disable_sandbox: Option<bool> = "dangerouslyDisableSandbox",
    }

    /// `Agent`, in document 001 `Task`
    #[derive(Default)]
    pub struct AgentInput {
        /// What it is to do, in a few words.
        description: Option<Text>,
        /// What it is to do.
        prompt: Option<Text>,
        /// Which kind of agent.
        subagent_type: Option<Text>,
        /// Which model.
        model: Option<Text>,
        /// How hard to try.
        effort: Option<Text>,
        /// How many model calls at the most.
        max_turns: Option<u64>,
        /// Do not wait for it.
        run_in_background: Option<bool>,
        /// `worktree` or `remote`.
        isolation: Option<Text>,
        /// An agent to go on with.
        resume: Option<AgentId>,
    }

    /// `WebFetch`
    pub struct WebFetchInput {
        /// The address.
        url: Text,
        /// What to find there.
        prompt: Option<Text>,
        /// Where to go on.
        offset: Option<u64>,
    }

    /// `WebSearch`
    pub struct WebSearchInput {
        /// What to look for.
        query: Text,
        /// How many to give.
        num_results: Option<u64>,
        /// Only there.
        allowed_domains: Option<Vec<Text>>,
        /// Not there.
        blocked_domains: Option<Vec<Text>>,
    }

    /// `TodoWrite`
    pub struct TodoWriteInput {
        /// The whole list.
        todos: Vec<Todo>,
    }

    /// One thing to do.
    pub struct Todo {
        /// What.
        content: Text,
        /// `pending`, `in_progress` or `completed`.
        status: Text,
        /// What is being done, while it is.
        active_form: Option<Text> = "activeForm",
        /// How urgent (document 001).
        priority: Option<Text>,
        /// Its id in older versions.
        id: Option<Text>,
    }

    /// A tool without input.
    #[derive(Default)]
    pub struct NoInput {}

    /// `ExitPlanMode`; the real CLI takes the plan out of the question.
    #[derive(Default)]
    pub struct ExitPlanModeInput {
        /// The plan.
        plan: Option<Text>,
        /// The file that holds it.
        plan_file_path: Option<Text> = "planFilePath",
        /// What the plan will need.
        allowed_prompts: Option<Json> = "allowedPrompts",
    }

    /// `AskUserQuestion`, also as the answer: then with `answers`.
    #[derive(Default)]
    pub struct AskUserQuestionInput {
        /// The questions; document 000 leaves them out of the answer.
        questions: Option<Vec<Question>>,
        /// Answers by question text (document 004), by index (000, 001) or by header.
        answers: Option<Map<OneOrMany<Text>>>,
        /// Notes and previews by question text.
        annotations: Option<Map<Annotation>>,
        /// An answer in free words to all of them.
        response: Option<Text>,
        /// Where the questions come from.
        metadata: Option<Json>,
    }

    /// One question.
    pub struct Question {
        /// The question.
        question: Text,
        /// A short label.
        header: Option<Text>,
        /// What can be chosen.
        options: Vec<QuestionOption>,
        /// Whether several can be.
        multi_select: Option<bool> = "multiSelect" | "multi_select",
    }

    /// One thing that can be chosen.
    pub struct QuestionOption {
        /// Its name, which is also the answer.
        label: Text,
        /// What it means.
        description: Option<Text>,
        /// What it would look like.
        preview: Option<Text>,
        /// The same, in the terminal (document 004 §6.3).
        markdown: Option<Text>,
    }

    /// What a person adds to an answer.
    #[derive(Default)]
    pub struct Annotation {
        /// The preview they chose.
        preview: Option<Text>,
        /// Their words.
        notes: Option<Text>,
    }

    /// `Oracle`
    #[derive(Default)]
    pub struct OracleInput {
        /// What to think about.
        task: Option<Text>,
        /// What to read for it.
        files: Option<Vec<Text>>,
        /// What to know for it.
        context: Option<Text>,
    }

    /// `Mermaid`
    pub struct MermaidInput {
        /// The diagram.
        code: Text,
    }

    /// `ListAgents`
    #[derive(Default)]
    pub struct ListAgentsInput {
        /// Of which channel.
        channel: Option<Text>,
        /// What to look for.
        query: Option<Text> = "q",
    }

    /// `ReportFindings`
    pub struct ReportFindingsInput {
        /// How thorough the review was.
        level: Option<Text>,
        /// What it found.
        findings: Vec<Finding>,
    }

    /// One thing a review found.
    pub struct Finding {
        /// Where.
        file: Text,
        /// On which line.
        line: Option<u64>,
        /// What.
        summary: Text,
        /// What, in few words.
        short_summary: Option<Text>,
        /// How it fails.
        failure_scenario: Option<Text>,
        /// Of which kind.
        category: Option<Text>,
        /// `CONFIRMED` or `PLAUSIBLE`.
        verdict: Option<Text>,
        /// What became of it.
        outcome: Option<Text>,
    }

    /// `ScheduleWakeup`
    #[derive(Default)]
    pub struct ScheduleWakeupInput {
        /// When.
        delay_seconds: Option<Number> = "delaySeconds",
        /// Why.
        reason: Option<Text>,
        /// What to do then.
        prompt: Option<Text>,
        /// No longer.
        stop: Option<bool>,
        /// Nothing to do.
        noop: Option<bool>,
    }

    /// `Skill`
    pub struct SkillInput {
        /// Which one.
        skill: Text,
        /// With which arguments.
        args: Option<Text>,
    }

    /// `ToolSearch`
    pub struct ToolSearchInput {
        /// What to look for.
        query: Text,
        /// How many to give.
        max_results: Option<Number>,
    }

    /// `Workflow`
    #[derive(Default)]
    pub struct WorkflowInput {
        /// The script itself.
        script: Option<Text>,
        /// A script by name.
        name: Option<Text>,
        /// What it does.
        description: Option<Text>,
        /// A headline.
        title: Option<Text>,
        /// Its arguments.
        args: Nullable<Json>,
        /// A script by path.
        script_path: Option<Text> = "scriptPath",
        /// A run to go on with.
        resume_from_run_id: Option<Text> = "resumeFromRunId",
    }

    /// `CronCreate`
    pub struct CronCreateInput {
        /// When.
        cron: Text,
        /// What to do then.
        prompt: Text,
        /// More than once.
        recurring: Option<bool>,
        /// Also after a restart.
        durable: Option<bool>,
    }

    /// `CronDelete`
    pub struct CronDeleteInput {
        /// Which one.
        id: Text,
    }

    /// `EnterWorktree`
    #[derive(Default)]
    pub struct EnterWorktreeInput {
        /// Its name.
        name: Option<Text>,
        /// Its path.
        path: Option<Text>,
    }

    /// `ExitWorktree`
    pub struct ExitWorktreeInput {
        /// `keep` or `remove`.
        action: Text,
        /// Also with changes in it.
        discard_changes: Option<bool>,
    }

    /// `Monitor`
    pub struct MonitorInput {
        /// What is watched, in a few words.
        description: Text,
        /// How long.
        timeout_ms: Option<Number>,
        /// A command whose output is watched.
        command: Option<Text>,
        /// A WebSocket that is watched.
        ws: Option<Json>,
    }

    /// `SendMessage`
    pub struct SendMessageInput {
        /// To whom.
        to: Text,
        /// The message in a few words.
        summary: Option<Text>,
        /// The message.
        message: Json,
        /// Say when it is done.
        notify_when_idle: Option<bool>,
    }

    /// `TaskStop`
    #[derive(Default)]
    pub struct TaskStopInput {
        /// Which one.
        task_id: Option<TaskId>,
        /// Which one, in older versions.
        shell_id: Option<Text>,
    }

    /// `TaskCreate`
    pub struct TaskCreateInput {
        /// What.
        subject: Text,
        /// More of it.
        description: Option<Text>,
        /// What is being done, while it is.
        active_form: Option<Text> = "activeForm",
        /// Notes.
        metadata: Option<Json>,
    }

    /// `TaskGet`
    pub struct TaskGetInput {
        /// Which one.
        task_id: TaskId = "taskId",
    }

    /// `TaskUpdate`
    pub struct TaskUpdateInput {
        /// Which one.
        task_id: TaskId = "taskId",
        /// What.
        subject: Option<Text>,
        /// More of it.
        description: Option<Text>,
        /// What is being done, while it is.
        active_form: Option<Text> = "activeForm",
        /// How far it is.
        status: Option<Text>,
        /// Tasks that wait for it.
        add_blocks: Option<Vec<Text>> = "addBlocks",
        /// Tasks it waits for.
        add_blocked_by: Option<Vec<Text>> = "addBlockedBy",
        /// Whose it is.
        owner: Option<Text>,
        /// Notes.
        metadata: Option<Json>,
    }
}

impl AskUserQuestionInput {
    /// The answers keyed by question text, whichever way they came: by text, by index or by header. Several choices
    /// become one string, joined as a person would write them.
    pub fn answers_by_question(&self, questions: &[Question]) -> Map<Text> {
        let answers = self.answers.iter().flat_map(Map::iter);
        answers
            .map(|(key, answer)| {
                let by_text = || questions.iter().find(|question| question.question == key);
                let by_index = || {
                    key.parse::<usize>()
                        .ok()
                        .and_then(|index| questions.get(index))
                };
                let by_header = || {
                    questions.iter().find(|question| {
                        question
                            .header
                            .as_deref()
                            .is_some_and(|header| header == key)
                    })
                };
                let question = by_text().or_else(by_index).or_else(by_header);
                let chosen = answer
                    .as_slice()
                    .iter()
                    .map(Text::as_str)
                    .collect::<Vec<_>>()
                    .join(", ");
                (
                    question.map_or_else(|| Text::from(key), |found| found.question.clone()),
                    Text::from(chosen),
                )
            })
            .collect()
    }
}
