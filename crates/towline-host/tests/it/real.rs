//! What only the real CLI can show: where it is found, what it leaves on disk, and that it leaves nothing running.

use std::time::Duration;

use serde_json::json;
use towline_host::{AgentCommand, Event, SlashCommands, store::ListQuery};
use towline_testkit::{
    real_cli::{RealCli, is_slow_wanted},
    script_api::{Reply, Script, ScriptApi},
    waiting::eventually,
};

use crate::agents::all_gone;

/// The CLI in a clean room, against a script.
struct Room {
    cli: RealCli,
    api: ScriptApi,
}

impl Room {
    async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            cli: RealCli::find().unwrap(),
            api: ScriptApi::start(Script::new(replies)).await.unwrap(),
        }
    }

    fn command(&self) -> AgentCommand {
        self.surround(AgentCommand::new(
            self.cli.command(&self.api.url()).get_program(),
        ))
    }

    fn surround(&self, command: AgentCommand) -> AgentCommand {
        let clean = self.cli.command(&self.api.url());
        let variables = clean
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        variables.fold(
            command.env_clear().current_dir(self.cli.project()),
            |command, (name, value)| command.env(name, value),
        )
    }
}

#[tokio::test]
async fn a_package_is_fetched_and_driven() {
    if !is_slow_wanted("a package that npx fetches") {
        return;
    }
    let room = Room::new([Reply::text("Four.")]).await;
    let command = room
        .surround(AgentCommand::npx("2.1.325"))
        .env("PATH", std::env::var_os("PATH").unwrap())
        .request_timeout(Some(Duration::from_secs(300)));
    assert_eq!(command.version().await.unwrap().to_string(), "2.1.325");
    assert_eq!(command.ask("two and two?").await.unwrap().text, "Four.");
}

#[tokio::test]
async fn slash_commands_are_found_both_ways() {
    if !is_slow_wanted("slash commands of the real CLI") {
        return;
    }
    let room = Room::new([Reply::text("What?").forever()]).await;
    std::fs::create_dir_all(room.cli.project().join(".claude/commands/db")).unwrap();
    std::fs::write(
        room.cli.project().join(".claude/commands/db/migrate.md"),
        "Migrate.",
    )
    .unwrap();
    let commands = SlashCommands::of(room.command());
    for found in [
        commands.by_initialize().await.unwrap().unwrap(),
        commands.by_probe().await.unwrap(),
    ] {
        let names: Vec<_> = found.iter().map(|command| command.name.as_str()).collect();
        assert!(
            names.contains(&"compact") && names.contains(&"db:migrate"),
            "{names:?}"
        );
    }
}

#[tokio::test]
async fn a_session_is_found_on_disk_renamed_and_resumed_by_its_title() {
    if !is_slow_wanted("a session of the real CLI on disk") {
        return;
    }
    let room = Room::new([Reply::text("A name."), Reply::text("Again.")]).await;
    let answer = room.command().ask("find a name for a boat").await.unwrap();
    let home = room.command().home().unwrap();
    let listing = home.list(&ListQuery::default()).unwrap();
    let summary = &listing.sessions[0];
    assert_eq!(
        summary.session.key().to_string(),
        answer.session_id.unwrap().as_str()
    );
    assert_eq!(
        summary.first_prompt.as_deref(),
        Some("find a name for a boat")
    );
    summary.session.rename("boats").unwrap();
    room.command()
        .resume("boats")
        .ask("and another")
        .await
        .unwrap();
    let requests = room.api.requests();
    assert!(
        requests
            .last()
            .unwrap()
            .body()
            .to_string()
            .contains("A name.")
    );
}

/// Starts a turn that runs a command for long, and gives the ids of the CLI and of all it started.
async fn busy(room: &Room) -> (towline_host::Session, Vec<u32>) {
    let mut session = room
        .command()
        .close_grace(Duration::from_secs(2))
        .spawn()
        .await
        .unwrap();
    session.send("work").await.unwrap();
    loop {
        if let Event::Permission(permission) = session.next().await.unwrap() {
            permission.allow();
            break;
        }
    }
    let ids = || working_in(&room.cli.project());
    eventually("the command runs", || ids().len() >= 2).await;
    let ids = ids();
    (session, ids)
}

/// The processes whose working directory this is.
fn working_in(folder: &std::path::Path) -> Vec<u32> {
    let folder = folder.canonicalize().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|process| {
        let id: u32 = process.file_name().to_str()?.parse().ok()?;
        let works_there = std::fs::read_link(process.path().join("cwd")).ok()? == folder;
        works_there.then_some(id)
    });
    ids.collect()
}

fn long_work() -> Reply {
    Reply::message().tool(
        "Bash",
        json!({"command": "python3 -c 'import time; time.sleep(1000)'", "description": "Work"}),
    )
}

#[tokio::test]
async fn a_session_dropped_in_the_middle_of_a_command_leaves_nothing() {
    if !is_slow_wanted("dropping the real CLI while it runs a command") {
        return;
    }
    let room = Room::new([long_work()]).await;
    let (session, ids) = busy(&room).await;
    drop(session);
    all_gone(&ids).await;
}

#[tokio::test]
async fn a_session_closed_in_the_middle_of_a_command_leaves_nothing() {
    if !is_slow_wanted("closing the real CLI while it runs a command") {
        return;
    }
    let room = Room::new([long_work(), Reply::text("Stopped.").forever()]).await;
    let (session, ids) = busy(&room).await;
    let ending = session.close().await;
    assert!(ending.exit.is_some());
    all_gone(&ids).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_runtime_torn_down_in_the_middle_of_a_command_leaves_nothing() {
    if !is_slow_wanted("tearing down the runtime while the real CLI runs a command") {
        return;
    }
    let room = Room::new([long_work()]).await;
    let ids = std::thread::scope(|scope| {
        let inside = || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let (session, ids) = runtime.block_on(busy(&room));
            runtime.shutdown_background();
            drop(session);
            ids
        };
        // The API goes on in this runtime meanwhile.
        let handle = scope.spawn(inside);
        tokio::task::block_in_place(|| handle.join().unwrap())
    });
    all_gone(&ids).await;
}
