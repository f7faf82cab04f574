"""Codes about language and embedding models. They share a prefix, so each section names its class."""

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
                "This installation may not download models.",
                "Put the model file in place yourself, or use a model of a cloud provider.",
            ),
            "inference.missing_api_key": (
                "The provider needs a key, and none is set.",
                "Set the environment variable named in the details and start Strata again.",
            ),
            "inference.missing_model": (
                "The model is known but is not on this disk.",
                "Fetch it with inference.models.pull, or choose one from inference.models.local.",
            ),
            "inference.model_load_failed": (
                "The model file is here but does not load.",
                "Fetch it again with inference.models.pull, and check that there is memory enough for it.",
            ),
            "inference.provider_quota_exhausted": (
                "The account at the provider has used up its quota.",
                "Raise the quota at the provider, or use another key or provider.",
            ),
        },
        "failed_precondition",
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "inference.download_verification_failed": (
                "The downloaded model is not the file that was promised: its size or digest differs.",
                "Fetch it again; if it fails once more, tell whoever publishes the model.",
            ),
        },
        "corruption",
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "inference.provider_auth_failed": (
                "The provider turned the key down.",
                "Check the key and what it may be used for, then set the right one in the environment.",
            ),
        },
        "access_denied",
    ),
    **section(
        AFTER_STATE_CHANGE,
        NOT_APPLICABLE,
        {
            "inference.provider_rate_limited": (
                "The provider asks for fewer requests.",
                "Wait for the time the provider names (a minute if it names none), then send fewer at once.",
            ),
        },
        "unavailable",
    ),
    **section(
        SAME_REQUEST,
        NOT_APPLICABLE,
        {
            "inference.download_failed": (
                "The download of the model broke off.",
                "Check the network and run inference.models.pull again.",
            ),
            "inference.provider_timeout": (
                "The provider did not answer in time.",
                "Send the same request again, or ask for less output at once.",
            ),
            "inference.provider_unavailable": (
                "The provider cannot be reached or is out of order.",
                "Send the same request again in a while, or use another provider.",
            ),
        },
        "unavailable",
    ),
    **section(
        SAME_REQUEST,
        NOT_APPLICABLE,
        {
            "inference.provider_malformed_response": (
                "The answer of the provider lacks what it should hold.",
                "Send the same request again; check the model name and the address of the provider if it repeats.",
            ),
        },
        "serialization",
    ),
    **section(
        UNKNOWN,
        NOT_APPLICABLE,
        {
            "inference.io_failure": (
                "A model file could not be read or written.",
                "Check the permissions and the free space of the model folder.",
            ),
        },
        "io",
    ),
    **section(
        UNKNOWN,
        NOT_APPLICABLE,
        {
            "inference.local_runtime_failed": (
                "The local model stopped with an error.",
                "Unload it with inference.unload and try a shorter input or another model.",
            ),
        },
        "unavailable",
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "inference.invalid_request": (
                "The request to the model is not usable.",
                "Pass `model` as provider/name and exactly one of `messages` and `prompt`.",
            ),
            "inference.unsupported_parameter": (
                "The provider does not take one of the options.",
                "Leave out the option named in the details.",
            ),
        },
        "invalid_argument",
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "inference.provider_model_not_found": (
                "The provider has no model of that name, or your key may not use it.",
                "Check the spelling in the provider's own list of models.",
            ),
            "inference.unknown_model": (
                "No local model has that name.",
                "Choose one from inference.models.list, or write a cloud model as provider/name.",
            ),
        },
        "not_found",
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "inference.registry_corrupt": (
                "The list of models cannot be read.",
                "Install strata-mcp again; your database is not affected.",
            ),
        },
        "corruption",
    ),
    **section(
        NEVER,
        NOT_APPLICABLE,
        {
            "inference.unsupported_operation": (
                "This model cannot do that task here.",
                "See with inference.capability what it can do, or choose another model.",
            ),
            "inference.unsupported_provider": (
                "This installation does not know the provider.",
                "See with inference.status which providers there are.",
            ),
        },
        "unsupported",
    ),
}
