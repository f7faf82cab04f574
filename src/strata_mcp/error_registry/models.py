"""Codes of inference: model names, files, providers."""

from __future__ import annotations

from strata_mcp.error_registry.base import (
    AFTER_STATE_CHANGE,
    NEVER,
    NOT_APPLICABLE,
    SAME_REQUEST,
    UNKNOWN,
    section,
)

MODELS = {
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "inference.download_disabled": (
                "Models may not be downloaded here.",
                "Allow downloads, or put the model file in place yourself.",
            ),
            "inference.missing_api_key": (
                "There is no key for that provider.",
                "Set the provider's key in the environment or with strata config set.",
            ),
            "inference.missing_model": (
                "The model is known but its file is not here.",
                "Pull the model first, then call again.",
            ),
            "inference.model_load_failed": (
                "The model file does not load.",
                "Remove it, pull it again, and check that there is memory for it.",
            ),
            "inference.provider_quota_exhausted": (
                "The quota at the provider is used up.",
                "Raise the quota or use another provider.",
            ),
        },
        "failed_precondition",
    ),
    **section(
        SAME_REQUEST,
        NOT_APPLICABLE,
        {
            "inference.download_failed": (
                "The download of the model broke off.",
                "Try again; it goes on where it stopped.",
            ),
            "inference.provider_timeout": (
                "The provider did not answer in time.",
                "Send the request again, or allow it more time.",
            ),
            "inference.provider_unavailable": (
                "The provider cannot be reached.",
                "Try again later, or use another provider.",
            ),
        },
        "unavailable",
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "inference.download_verification_failed": (
                "The downloaded model is not the file that was promised.",
                "Remove it and download it again from a source you trust.",
            ),
        },
        "corruption",
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "inference.invalid_request": (
                "The request to the model is not well formed.",
                "Name a model and give either messages or a prompt.",
            ),
            "inference.unsupported_parameter": (
                "The provider does not take one of the parameters.",
                "Leave the parameter out, or use a provider that takes it.",
            ),
        },
        "invalid_argument",
    ),
    **section(
        UNKNOWN,
        NOT_APPLICABLE,
        {
            "inference.io_failure": (
                "A file of the model could not be read or written.",
                "Check the model folder, its permissions and the room on the disk.",
            ),
        },
        "io",
    ),
    **section(
        UNKNOWN,
        NOT_APPLICABLE,
        {
            "inference.local_runtime_failed": (
                "The local model runtime failed.",
                "Try again with a smaller context; then try another model.",
            ),
        },
        "unavailable",
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "inference.provider_auth_failed": (
                "The provider refused the key.",
                "Check the key and what it is allowed to do.",
            ),
        },
        "access_denied",
    ),
    **section(
        SAME_REQUEST,
        NOT_APPLICABLE,
        {
            "inference.provider_malformed_response": (
                "The provider's answer lacks the fields it should have.",
                "Try again; then try another model of the provider.",
            ),
        },
        "serialization",
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "inference.provider_model_not_found": (
                "The provider has no model of that name.",
                "Look up the name in the provider's list.",
            ),
            "inference.unknown_model": (
                "There is no local model of that name.",
                "List the models and use one of their names.",
            ),
        },
        "not_found",
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "inference.provider_rate_limited": (
                "The provider asks for fewer requests.",
                "Wait as long as it says, then send the same request.",
            ),
        },
        "unavailable",
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "inference.registry_corrupt": (
                "The list of models cannot be read.",
                "Reinstall the package; the list is part of it.",
            ),
        },
        "corruption",
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "inference.unsupported_operation": (
                "The model cannot do that.",
                "Ask for its capabilities and use a model that has this one.",
            ),
            "inference.unsupported_provider": (
                "That provider is not built in.",
                "Use one of the providers that the models command lists.",
            ),
        },
        "unsupported",
    ),
}
