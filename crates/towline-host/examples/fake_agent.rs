//! An agent without a model, which does what its prompt says: to try the other examples without an account.
//!
//! `cargo build -p towline-host --examples`, then
//! `cargo run -p towline-host --example approve target/debug/examples/fake_agent` and say `run ls`. What else it
//! understands is in the documentation of `towline_testkit::fake_agent`.

use towline_testkit::fake_agent::FakeAgent;

fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let agent = FakeAgent::new(tokio::io::stdin(), tokio::io::stdout())
        .with_arguments(std::env::args().skip(1));
    let served = runtime.block_on(agent.serve());
    // Somebody may still hold the input open; an agent that has crashed does not wait for that.
    runtime.shutdown_background();
    served
}
