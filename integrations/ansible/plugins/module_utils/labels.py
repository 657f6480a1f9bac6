# SPDX-License-Identifier: Apache-2.0
"""Labels of servers and volumes."""


def label_texts(labels):
    """Returns labels as the API has them: YAML reads `1` and `true` as other types than text."""
    return None if labels is None else {str(name): label_text(value) for name, value in labels.items()}


def label_text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def has_labels(server, labels):
    """Whether the server has all of these labels."""
    return all(server['labels'].get(name) == value for name, value in (labels or {}).items())
