# SPDX-License-Identifier: Apache-2.0
"""Finds a resource by its ID, or by its name if only one resource has it."""

import unicodedata

from ansible_collections.skerry.cloud.plugins.module_utils.client import ID, Failure, path

# Bounds the list of IDs in an error message.
MATCHES_MAX = 10


class Kind:
    def __init__(self, noun, start, prefix):
        self.noun = noun
        self.start = start
        self.prefix = prefix

    def path(self, *ids):
        return path(self.start, *ids)


SERVER = Kind('server', '/servers', 'srv_')
VOLUME = Kind('volume', '/volumes', 'vol_')
SSH_KEY = Kind('SSH key', '/ssh-keys', 'k_')
FIREWALL_GROUP = Kind('firewall group', '/firewall/groups', 'fwg_')
ALERT = Kind('alert', '/alerts', 'alr_')
SNAPSHOT = Kind('snapshot', '/snapshots', 'snap_')


def find_own(run, kind, filters=None):
    """Returns the resource that the options `id` or `name` of the module describe, or None.

    With `id`, `name` is the name that the resource is to have.
    """
    shown_id, name = run.params['id'], run.params['name']
    if shown_id is None:
        return find_by_name(run.client, kind, name, 'name', filters)
    found = run.client.find(kind.path(shown_id))
    if found is None and run.params['state'] != 'absent':
        raise Failure('id: %s %s not found' % (kind.noun, shown_id))
    return found


def find_by_name(client, kind, name, option, filters=None, identity='id'):
    """Returns the only resource with this name, or None. `option` is the option that has the name.

    Resources with the same value of the field `identity` are interchangeable.
    """
    name = unicodedata.normalize('NFC', name)
    found = client.list(kind.start, dict(filters or {}, name=name))
    # A server that is being deleted no longer has its name.
    found = [one for one in found if one.get('status') != 'destroying']
    different = {one[identity]: one for one in found}
    if len(different) > 1:
        ids = ', '.join(one['id'] for one in found[:MATCHES_MAX])
        raise Failure('%s: more than one %s is named "%s"; use an ID: %s' % (option, kind.noun, name, ids))
    return next(iter(different.values()), None)


def find_named(client, kind, text, option):
    """Returns the resource that an option names by ID or by name, or None. A name may look like an ID."""
    is_id = text.startswith(kind.prefix) and ID.fullmatch(text)
    found = client.find(kind.path(text)) if is_id else None
    identity = 'fingerprint' if kind is SSH_KEY else 'id'
    return found or find_by_name(client, kind, text, option, identity=identity)


def require_named(run, kind, text, option):
    """Like `find_named`, but fails if there is none, except in check mode: it may be created by then."""
    found = find_named(run.client, kind, text, option)
    if found is not None:
        return found
    if not run.module.check_mode or text.startswith(kind.prefix):
        raise Failure('%s: %s "%s" not found' % (option, kind.noun, text))
    run.module.warn('%s: %s "%s" does not exist; check mode assumes that an earlier task creates it'
                    % (option, kind.noun, text))
    return {'id': text, 'name': text, 'status': 'running', 'region': 'unknown'}


def named_ids(run, kind, texts, option):
    """Returns the IDs of the resources that a list names, without duplicates."""
    return list(dict.fromkeys(require_named(run, kind, text, option)['id'] for text in texts))
