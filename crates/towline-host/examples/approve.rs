//! Asks the person in the terminal before each tool, and passes on the agent's questions and plans; an empty line ends.
//!
//! `cargo run -p towline-host --example approve [PROGRAM]`; without a program it is `claude`.

use std::io::{self, Write as _};

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};
use towline_host::{AgentCommand, Answers, Choices, Error, Event, Permission, Plan, Wire as _};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let command = match std::env::args_os().nth(1) {
        Some(program) => AgentCommand::new(program),
        None => AgentCommand::claude()?,
    };
    let mut session = command.spawn().await?;
    let mut person = Person(BufReader::new(tokio::io::stdin()).lines());
    loop {
        let prompt = person.asked("> ").await?;
        if prompt.is_empty() {
            session.close().await;
            return Ok(());
        }
        session.send(prompt).await?;
        while let Some(event) = session.next().await {
            if let Some(result) = event.result() {
                let words = result.text().cloned().unwrap_or_default();
                writeln!(io::stdout(), "{words}")?;
                break;
            }
            match event {
                Event::Permission(permission) => person.permits(*permission).await?,
                Event::Choices(choices) => person.chooses(*choices).await?,
                Event::Plan(plan) => person.approves(*plan).await?,
                Event::Ended(ending) => return Err(Error::Ended(Box::new(ending)).into()),
                _ => {} // any other question is refused when it is dropped
            }
        }
    }
}

struct Person(Lines<BufReader<Stdin>>);

impl Person {
    /// What the person says; nothing at the end of the input.
    async fn asked(&mut self, words: &str) -> io::Result<String> {
        write!(io::stdout(), "{words}")?;
        io::stdout().flush()?;
        self.0.next_line().await.map(Option::unwrap_or_default)
    }

    async fn permits(&mut self, permission: Permission) -> io::Result<()> {
        let mut words = format!("{} {}\n", permission.tool_name(), permission.input());
        for suggestion in permission.suggestions() {
            words += &format!("  always: {}\n", suggestion.to_json());
        }
        words += "[y]es, [a]lways, or why not: ";
        match &*self.asked(&words).await? {
            "y" => permission.allow(),
            "a" => permission.accept_suggestions(),
            why => permission.deny(why),
        }
        Ok(())
    }

    async fn chooses(&mut self, choices: Choices) -> io::Result<()> {
        let mut answers = Answers::new();
        for question in choices.questions() {
            let labels = question.options.iter().map(|option| &*option.label);
            let labels: Vec<_> = labels.collect();
            let words = format!("{} [{}]: ", question.question, labels.join(", "));
            answers = answers.say(&question.question, &self.asked(&words).await?);
        }
        choices.answer(answers);
        Ok(())
    }

    async fn approves(&mut self, plan: Plan) -> io::Result<()> {
        let text = plan.text().cloned().unwrap_or_default();
        match &*self.asked(&format!("{text}\n[y]es, or why not: ")).await? {
            "y" => plan.approve(),
            why => plan.reject(why),
        }
        Ok(())
    }
}
