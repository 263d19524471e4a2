//! The limits of a plan, and notifications.

use super::Provider;
use crate::{
    json::{Number, Text},
    wire::{Nullable, wire_strings, wire_structs},
};

wire_strings! {
    /// The kind of device that gets notifications.
    pub enum Platform {
        /// An iPhone or iPad.
        Ios = "ios",
        /// An Android device.
        Android = "android",
        /// A browser.
        Web = "web",
    }
}

wire_structs! {
    /// `push_register`
    pub struct PushRegister {
        /// What the notification service knows the device by.
        token: Text,
        /// The kind of device.
        platform: Platform,
        /// Comes back in the answer.
        request_id: Option<Text> = "requestId",
        /// The person's language.
        locale: Option<Text>,
        /// Keep the words out of the notifications.
        privacy_mode: Option<bool> = "privacyMode",
    }

    /// `push_registration_result`
    #[derive(Default)]
    pub struct PushRegistration {
        /// As in the request.
        token: Text,
        /// As in the request.
        request_id: Option<Text> = "requestId",
        /// Whether it worked.
        success: bool,
        /// Why not.
        error: Option<Text>,
    }

    /// `usage_result`
    #[derive(Default)]
    pub struct UsageResult {
        /// The plans.
        providers: Vec<PlanUsage>,
    }

    /// How far the limits of one plan are.
    pub struct PlanUsage {
        /// Whose plan it is.
        provider: Provider,
        /// The limit of five hours; `null` for none.
        five_hour: Nullable<UsageWindow> = "fiveHour",
        /// The limit of seven days; `null` for none.
        seven_day: Nullable<UsageWindow> = "sevenDay",
        /// Why they are not known.
        error: Option<Text>,
    }

    /// How far a limit is.
    #[derive(Default)]
    pub struct UsageWindow {
        /// How much of it is used, in percent.
        utilization: Number,
        /// When it starts over.
        resets_at: Text = "resetsAt",
    }
}
