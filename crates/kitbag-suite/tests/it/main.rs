//! The statements, each in process and over every door of a program.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by it")]

mod program;
mod same;
mod subjects;

mod in_a_registry {
    kitbag_suite::statements!(crate::subjects::InRegistry::new());
}

mod in_a_toolbox {
    kitbag_suite::statements!(crate::subjects::InToolbox::new());
}

mod over_mcp_of_the_handshake_era {
    kitbag_suite::statements!(crate::subjects::Served::start(kitbag_testkit::Era::Handshake).await);
}

mod over_mcp_of_the_stateless_era {
    kitbag_suite::statements!(crate::subjects::Served::start(kitbag_testkit::Era::Stateless).await);
}

mod by_the_command {
    kitbag_suite::statements!(crate::subjects::Run);
}

mod by_the_contract_of_handlers {
    kitbag_suite::statements!(crate::subjects::Handled);
}
