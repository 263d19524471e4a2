//! The tests of the agent.
